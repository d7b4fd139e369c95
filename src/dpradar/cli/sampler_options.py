"""The options of commands that draw from an implementation and test what it claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..audits.import_by_name import import_object
from ..errors import ParameterError
from ..options.reading import FLAGS
from ..options.tables import options_in
from ..spec.claims import ClaimOptions, claim_of
from ..spec.model import RELATION
from .described_options import click_option, takes

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CLAIM", "PAIRS", "claim_options", "pairs_of", "stated_claim"]

PAIRS = "pairs"
_CLAIM = options_in(ClaimOptions)
CLAIM = tuple(option.name for option in (*_CLAIM, RELATION))


def claim_options(command: Callable[..., int]) -> Callable[..., int]:
    """Return the command with the options of a claim and of the inputs that it is tested on."""
    relation = click_option(RELATION)
    help_text = "Neighbour relation of the claim (default: replace-one); required with --pairs."
    command = click.option(*relation.opts, type=relation.type, help=help_text)(command)
    pairs_help = (
        "Pairs of neighbouring data sets, as module:name; the implementation is then a function of one data set."
    )
    return takes(_CLAIM)(click.option(FLAGS(PAIRS), metavar="MODULE:NAME", help=pairs_help)(command))


def pairs_of(options: dict[str, Any]) -> Any:
    """Return the pairs of data sets, or None."""
    return None if options[PAIRS] is None else import_object(options[PAIRS], FLAGS(PAIRS))


def stated_claim(options: dict[str, Any]) -> Any:
    """Return the claim; on pairs of data sets the neighbour relation must be stated."""
    relation = options[RELATION.name]
    if relation is None and options[PAIRS] is not None:
        raise ParameterError(FLAGS(RELATION.name), f"given with {FLAGS(PAIRS)}", "nothing", "It is never guessed.")
    return claim_of(options, FLAGS, relation or "replace-one")
