"""A claim of privacy in words: ``claim_epsilon`` with ``claim_delta``, or ``claim_mu``, or ``claim_rho``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Gt, Le

from ..errors import ParameterError
from ..guarantees import GDP, ZCDP, ApproxDP, PureDP
from ..options import About

if TYPE_CHECKING:
    from ..guarantees import Neighbours
    from ..options.reading import Options, Where

__all__ = ["ClaimOptions", "claim_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOptions:
    """Options that state a claim: one of epsilon, mu and rho."""

    claim_epsilon: Annotated[
        float, Ge(0), About("the epsilon that is claimed", "1", label="claimed epsilon", slider=(0.05, 12.0)),
    ] | None = None  # fmt: skip
    claim_delta: Annotated[
        float, Ge(0), Le(1),
        About("the delta that is claimed with epsilon; 0 unless given", "0", label="claimed delta",
              form_help="0 for pure differential privacy."),
    ] | None = None  # fmt: skip
    claim_mu: Annotated[float, Gt(0), About("the mu of Gaussian DP that is claimed, instead of epsilon")] | None = None
    claim_rho: Annotated[float, Gt(0), About("the rho of zCDP that is claimed, instead of epsilon")] | None = None

    @classmethod
    def of(cls, options: Options) -> ClaimOptions:
        """Return the options that are about a claim."""
        return cls(**{option.name: options[option.name] for option in fields(cls) if option.name in options})


def claim_of(options: Options, where: Where, neighbours: Neighbours) -> PureDP | ApproxDP | GDP | ZCDP:
    """Return what is claimed; an error names the option that is missing, or that is one too many.

    Examples
    --------
    >>> from dpradar.options.reading import FLAGS
    >>> claim_of({"claim_mu": 0.5}, FLAGS, "add-remove")
    GDP(mu=0.5, neighbours='add-remove')
    """
    claim = ClaimOptions.of(options)
    losses = {"claim_epsilon": claim.claim_epsilon, "claim_mu": claim.claim_mu, "claim_rho": claim.claim_rho}
    stated = [name for name, value in losses.items() if value is not None]
    if len(stated) != 1:
        first, *others = map(where, losses)
        raise ParameterError(
            first, f"given, or one of {', '.join(others)} instead", " and ".join(map(where, stated)) or "none"
        )
    if claim.claim_epsilon is not None:
        if claim.claim_delta:
            return ApproxDP(claim.claim_epsilon, claim.claim_delta, neighbours=neighbours)
        return PureDP(claim.claim_epsilon, neighbours=neighbours)
    if claim.claim_delta is not None:
        raise ParameterError(where("claim_delta"), f"given with {where('claim_epsilon')}", where(stated[0]))
    (loss,) = (value for value in losses.values() if value is not None)
    return GDP(loss, neighbours=neighbours) if claim.claim_rho is None else ZCDP(loss, neighbours=neighbours)
