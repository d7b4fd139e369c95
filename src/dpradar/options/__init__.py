"""What a person can say about an object: described once, at the fields of its class.

A class states type, constraints (``annotated_types``) and ``About`` of each option. Everything else is made from that:
the constructor's checks, options and help of the command line, keys and JSON Schema of files, forms, starter files.
"""

from .about import About
from .described import Group, Option, by_name, describe, described, number_of, option_of, parameters
from .shapes import (
    Anything,
    Choice,
    Contributions,
    Day,
    FileName,
    Flag,
    ListOf,
    Number,
    Numbers,
    Rows,
    Shape,
    Span,
    Text,
)

__all__ = [
    "About",
    "Anything",
    "Choice",
    "Contributions",
    "Day",
    "FileName",
    "Flag",
    "Group",
    "ListOf",
    "Number",
    "Numbers",
    "Option",
    "Rows",
    "Shape",
    "Span",
    "Text",
    "by_name",
    "describe",
    "described",
    "number_of",
    "option_of",
    "parameters",
]
