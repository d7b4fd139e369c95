"""The options that state a claim of privacy, for the commands that test one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError
from ..options.reading import FLAGS
from ..spec.claims import claim_of
from . import number_types

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CLAIM", "claim_options", "stated_claim"]

CLAIM = ("claim_epsilon", "claim_delta", "claim_mu", "claim_rho", "neighbours")
_NEIGHBOURS = click.Choice(["replace-one", "add-remove"])
_OPTIONS = (
    click.option("--claim-epsilon", type=number_types.NUMBER, help="Claimed epsilon."),
    click.option("--claim-delta", type=number_types.NUMBER, help="Claimed delta; 0 unless given."),
    click.option("--claim-mu", type=number_types.NUMBER, help="Claimed mu of Gaussian DP, instead of --claim-epsilon."),
    click.option("--claim-rho", type=number_types.NUMBER, help="Claimed rho of zCDP, instead of --claim-epsilon."),
    click.option(
        "--neighbours", type=_NEIGHBOURS, help="Neighbour relation of the claim; replace-one unless --pairs is given."
    ),
)


def claim_options(command: Callable[..., int]) -> Callable[..., int]:
    """Return the command with the options of a claim."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def stated_claim(options: dict[str, Any]) -> Any:
    """Return the claim; on ``--pairs`` of data sets the neighbour relation must be said."""
    neighbours = options["neighbours"]
    if neighbours is None and options["pairs"] is not None:
        raise ParameterError("--neighbours", "given with --pairs", "nothing", "It is never guessed.")
    return claim_of(options, FLAGS, neighbours or "replace-one")
