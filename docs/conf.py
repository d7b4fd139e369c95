"""Settings of the documentation: `make docs` builds it, warnings are errors, and nothing comes from outside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style as Plain
from pybtex.style.labels import BaseLabelStyle

from dpradar import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pybtex.database import Entry
    from sphinx.application import Sphinx

project = "dpradar"
author = "The dpradar contributors"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinxcontrib.bibtex",
    "sphinx-mathjax-offline",  # MathJax as files of the build; sphinx alone would load it from a content network
]
exclude_patterns = ["_build"]

# Pages are Markdown that reads well where the repository is browsed, too.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# Docstrings: numpydoc, two sections of our own, and single backquotes for code.
default_role = "code"
napoleon_google_docstring = False
napoleon_custom_sections = [("Guarantee", "notes_style"), ("Assumes", "notes_style")]
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True

# No menu, because parts of it are loaded on demand.
mathjax3_config = {"options": {"enableMenu": False}}

html_theme = "furo"
html_title = f"dpradar {__version__}"
html_static_path = ["_static"]
html_css_files = ["dpradar.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False


class KeyLabels(BaseLabelStyle):
    """Label a work by its key, which is what code and pages cite."""

    def format_labels(self, entries: Iterable[Entry]) -> Iterator[str]:
        """Yield the keys."""
        return (entry.key for entry in entries)


class KeyStyle(Plain):
    """The plain style with keys as labels."""

    default_label_style = KeyLabels


register_plugin("pybtex.style.formatting", "keys", KeyStyle)
bibtex_bibfiles = ["../references.bib"]


def keep_bars(_app: Sphinx, _what: str, _name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """Escape the bars of absolute values and conditional probabilities, which would name substitutions."""
    example = False
    for number, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example and not line.lstrip().startswith(("|", "+")):  # examples and tables stay as they are
            parts = re.split(r"(``.+?``)", line)
            lines[number] = "".join(part if part.startswith("``") else part.replace("|", r"\|") for part in parts)


def setup(app: Sphinx) -> None:
    """Connect what the settings above cannot say."""
    app.connect("autodoc-process-docstring", keep_bars)
