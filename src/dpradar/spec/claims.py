"""A claim of privacy in words: ``claim_epsilon`` with ``claim_delta``, or ``claim_mu``, or ``claim_rho``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..guarantees import GDP, ZCDP, ApproxDP, PureDP

if TYPE_CHECKING:
    from ..guarantees import Neighbours
    from ..options.reading import Options, Where

__all__ = ["claim_of"]

_LOSSES = ("claim_epsilon", "claim_mu", "claim_rho")


def claim_of(options: Options, where: Where, neighbours: Neighbours) -> PureDP | ApproxDP | GDP | ZCDP:
    """Return what is claimed; an error names the option that is missing, or that is one too many.

    Examples
    --------
    >>> from dpradar.options.reading import FLAGS
    >>> claim_of({"claim_mu": 0.5}, FLAGS, "add-remove")
    GDP(mu=0.5, neighbours='add-remove')
    """
    claim = {name: options[name] for name in (*_LOSSES, "claim_delta") if options.get(name) is not None}
    losses = [name for name in _LOSSES if name in claim]
    if len(losses) != 1:
        first, *others = map(where, _LOSSES)
        got = " and ".join(map(where, losses)) or "none"
        raise ParameterError(first, f"given, or one of {', '.join(others)} instead", got)
    if "claim_delta" in claim and losses != ["claim_epsilon"]:
        raise ParameterError(where("claim_delta"), f"given with {where('claim_epsilon')}", where(losses[0]))
    if losses == ["claim_mu"]:
        return GDP(claim["claim_mu"], neighbours=neighbours)
    if losses == ["claim_rho"]:
        return ZCDP(claim["claim_rho"], neighbours=neighbours)
    if claim.get("claim_delta", 0.0) != 0.0:
        return ApproxDP(claim["claim_epsilon"], claim["claim_delta"], neighbours=neighbours)
    return PureDP(claim["claim_epsilon"], neighbours=neighbours)
