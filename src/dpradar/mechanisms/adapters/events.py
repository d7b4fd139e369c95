"""Events, privacy loss distributions and accountants of dp-accounting."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

from ...errors import ParameterError, UnsupportedError
from ...guarantees.approx import PureDP
from ...guarantees.dp_accounting_library import import_dp_accounting
from ...guarantees.gdp import GDP
from ...guarantees.neighbours import Neighbours, check_neighbours
from ...guarantees.profile import Profile
from ...guarantees.renyi import RDP, ZCDP
from ...numerics.lazy_numpy import np
from ...params import Param
from ..dpsgd import DPSGD, POISSON
from ..ldp import GRR
from ..noise import Geometric, Laplace
from .accounted import Accounted, Sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["from_dp_accounting"]

Parts = list[tuple[Any, int]]

_COUNT = Param(name="count", integer=True, low=0, what="the number of times the event takes place")
_NOISE = Param(
    name="noise_multiplier", low=0.0, what="the size of the noise divided by the largest norm of one contribution"
)
_PARAMETER = Param(name="noise_parameter", low=0.0, what="how much noise there is, as the event defines it")
_RESPONSE = Param(name="noise_parameter", low=0.0, high=1.0, what="the probability that the answer is random")
_BUCKETS = Param(name="num_buckets", integer=True, low=1, what="the number of possible answers")
_SENSITIVITY = Param(name="sensitivity", integer=True, low=0, what="the largest size of one contribution")
_PROBABILITY = Param(
    name="sampling_probability", low=0.0, high=1.0, what="the probability that a record is in the sample"
)
_RHO = Param(name="rho", low=0.0, what="the multiplicative constant of the Renyi bound")
_XI = Param(name="xi", low=0.0, what="the additive constant of the Renyi bound")
_NORM = (
    "Gaussian noise is relative to the largest L2 norm of one person's contribution (add-remove); twice that when one "
    "person's data are replaced"
)
_LONGEST = 200  # characters of an event in a message


def from_dp_accounting(source: Any, neighbours: Neighbours | None = None) -> Accounted | Profile:
    """Return what a dp-accounting event, privacy loss distribution or accountant says, as a guarantee.

    Guarantee
    ---------
    An event is translated into the mechanisms it names, whose privacy losses dpradar composes itself. A privacy loss
    distribution is read through ``get_delta_for_epsilon`` at a few hundred epsilons, each of which is used as an
    (epsilon, delta) guarantee: the trade-off curve never claims more than the distribution does.

    Assumes
    -------
    A distribution is a pessimistic estimate, which is what dp-accounting makes by default, and bounds both
    orders of the neighbours. ``from_two_probability_mass_functions`` takes both orders to be the same unless it is
    told ``symmetric=False``; for two distributions that are not mirror images of each other the second order is then
    wrong, and nobody can see it from the outside.

    Parameters
    ----------
    source
        A ``DpEvent``, a ``PrivacyLossDistribution``, or a ``PrivacyAccountant``, of which the ledger is read.
    neighbours
        "add-remove" or "replace-one": the relation that the numbers are about. A distribution does not know it, so it
        must be stated; an accountant does.

    Notes
    -----
    The noise of an event is relative to the norm C of one contribution, so ``GaussianDpEvent(s)`` is 1/s-GDP under
    add/remove and 2/s-GDP under replace-one, as dp-accounting's own ``PLDAccountant`` has it. (``RdpAccountant`` does
    not double it.) ``RandomizedResponseDpEvent`` exists under replace-one only.

    Events that are translated: NoOp, Gaussian, Laplace, DiscreteLaplace, RandomizedResponse, ZC, SelfComposed,
    Composed; PoissonSampled of Gaussian events, or of one Laplace or DiscreteLaplace event. MixtureOfGaussians and
    TruncatedSubsampledGaussian are read through ``PLDAccountant``. Any other event raises UnsupportedError.

    Examples
    --------
    >>> import dp_accounting as dp
    >>> steps = dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.1)), 500)
    >>> from_dp_accounting(dp.ComposedDpEvent([steps, dp.GaussianDpEvent(8.0)]), "add-remove")
    Accounted(dp-accounting: DPSGD(noise_multiplier=1.1, sample_rate=0.01, steps=500) + GDP(mu=0.125, ...); add-remove)
    >>> from_dp_accounting(dp.pld.privacy_loss_distribution.from_laplace_mechanism(2.0), "add-remove")
    Profile(... points, epsilon up to 0.5, delta down to ..., neighbours='add-remove')
    """
    dp = import_dp_accounting()
    if isinstance(source, dp.PrivacyAccountant):
        return _of_accountant(source, neighbours)
    relation = check_neighbours("from_dp_accounting", neighbours)
    if isinstance(source, dp.pld.privacy_loss_distribution.PrivacyLossDistribution):
        return Profile.of(source.get_delta_for_epsilon, relation)
    if not isinstance(source, dp.DpEvent):
        allowed = "given a DpEvent, a PrivacyLossDistribution or a PrivacyAccountant"
        raise ParameterError("from_dp_accounting", allowed, type(source).__name__)
    parts = _parts(source, relation) or [(PureDP(0.0, "add-remove"), 1)]
    return Accounted("dp-accounting", tuple(parts), relation, tuple(dict.fromkeys(_notes(source))))


def _of_accountant(accountant: Any, neighbours: Neighbours | None) -> Accounted | Profile:
    relations: dict[str, Neighbours] = {"ADD_OR_REMOVE_ONE": "add-remove", "REPLACE_ONE": "replace-one"}
    relation = relations.get(accountant.neighboring_relation.name)
    if relation is None:
        message = f"{accountant.neighboring_relation} is not a relation we know. Supported: {', '.join(relations)}."
        raise UnsupportedError(message)
    if neighbours not in (None, relation):
        hint = "Leave it out, or pass accountant.ledger to ask about the same events under the other relation."
        raise ParameterError(
            "from_dp_accounting.neighbours", f"{relation!r}, as the accountant has it", neighbours, hint
        )
    return from_dp_accounting(accountant.ledger, relation)


def _refuse(event: Any, why: str) -> NoReturn:
    text = repr(event)
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
    message = (
        f"{text}: {why}. Supported: {', '.join([*_COMPOSITIONS, *_TRANSLATED])}. "
        "A PrivacyLossDistribution or a Profile can stand for any other event."
    )
    raise UnsupportedError(message)


def _leaves(event: Any, count: int) -> Iterator[tuple[Any, int]]:
    """Yield the events that are not compositions, with how often each takes place."""
    events = import_dp_accounting().dp_event
    if type(event) is events.SelfComposedDpEvent:
        yield from _leaves(event.event, count * int(_COUNT.check("SelfComposedDpEvent", event.count)))
    elif type(event) is events.ComposedDpEvent:
        for one in event.events:
            yield from _leaves(one, count)
    else:
        yield event, count


def _notes(event: Any) -> Iterator[str]:
    """Yield what events take for granted beyond what their parts say themselves."""
    for leaf, _ in _leaves(event, 1):
        name = type(leaf).__name__
        if name == "PoissonSampledDpEvent":
            yield from _notes(leaf.event)
        elif name == "GaussianDpEvent":
            yield _NORM
        elif name == "TruncatedSubsampledGaussianDpEvent":
            yield _NORM
            yield POISSON


def _key(event: Any) -> Any:
    """Return the event itself, equal to others of its class with its numbers; its identity where it holds lists."""
    try:
        hash(event)
    except TypeError:
        return id(event)
    return event


def _parts(event: Any, relation: Neighbours) -> Parts:
    """Return the parts that an event consists of, equal ones together."""
    leaves: dict[Any, tuple[Any, int]] = {}
    for leaf, count in _leaves(event, 1):
        key = _key(leaf)
        leaves[key] = (leaf, count + leaves.get(key, (leaf, 0))[1])
    parts: Parts = []
    for leaf, count in leaves.values():
        name = type(leaf).__name__
        # The class itself, not one derived from it: that may mean something else.
        if name not in _TRANSLATED or type(leaf) is not getattr(import_dp_accounting().dp_event, name, None):
            _refuse(leaf, "this event is not known here, so nothing is promised")
        if count:
            parts += _TRANSLATED[name](leaf, count, relation)
        else:
            _TRANSLATED[name](leaf, 1, relation)  # an event that cannot be read is refused even if it never happens
    return parts


def _nothing(event: Any, count: int, relation: Neighbours) -> Parts:
    return []


def _gaussian(event: Any, count: int, relation: Neighbours) -> Parts:
    noise = _NOISE.check("GaussianDpEvent", event.noise_multiplier)
    if noise == 0.0:
        _refuse(event, "without noise nothing is promised")
    return [(GDP(math.sqrt(count) / noise, "add-remove"), 1)]


def _laplace(event: Any, count: int, relation: Neighbours) -> Parts:
    noise = _NOISE.check("LaplaceDpEvent", event.noise_multiplier)
    if noise == 0.0:
        _refuse(event, "without noise nothing is promised")
    return [(Laplace(noise, sensitivity=1.0, neighbours="add-remove"), count)]


def _discrete_laplace(event: Any, count: int, relation: Neighbours) -> Parts:
    noise = _PARAMETER.check("DiscreteLaplaceDpEvent", event.noise_parameter)
    size = _SENSITIVITY.check("DiscreteLaplaceDpEvent", event.sensitivity)
    if size == 0:
        return []
    if noise == 0.0:
        _refuse(event, "a noise parameter of 0 is no distribution")
    return [(Geometric(1.0 / noise, sensitivity=float(size), neighbours="add-remove"), count)]


def _randomised_response(event: Any, count: int, relation: Neighbours) -> Parts:
    noise = _RESPONSE.check("RandomizedResponseDpEvent", event.noise_parameter)
    buckets = int(_BUCKETS.check("RandomizedResponseDpEvent", event.num_buckets))
    if relation != "replace-one":
        _refuse(event, "randomised response compares two answers, so it needs neighbours='replace-one'")
    if buckets == 1:
        return []
    if noise == 0.0:
        _refuse(event, "without noise nothing is promised")
    return [(GRR(m=buckets, epsilon=math.log1p(buckets * (1.0 - noise) / noise)), count)]


def _zcdp(event: Any, count: int, relation: Neighbours) -> Parts:
    rho, xi = count * _RHO.check("ZCDpEvent", event.rho), count * _XI.check("ZCDpEvent", event.xi)
    if xi == 0.0:
        return [(ZCDP(rho, relation), 1)]
    orders = 1.0 + np.geomspace(1e-3, 1e4, 200)
    return [(RDP(orders.tolist(), (xi + rho * orders).tolist(), relation), 1)]


def _poisson(event: Any, count: int, relation: Neighbours) -> Parts:
    rate = _PROBABILITY.check("PoissonSampledDpEvent", event.sampling_probability)
    inner = [(leaf, times) for leaf, times in _leaves(event.event, 1) if times]
    parts = _parts(event.event, relation)
    if rate == 0.0 or not parts:
        return []
    if rate == 1.0:
        return [(part, times * count) for part, times in parts]
    if len(inner) == 1 and inner[0][1] == 1 and isinstance(parts[0][0], GDP):
        return [(DPSGD(inner[0][0].noise_multiplier, rate, count), 1)]
    if relation != "add-remove":
        why = "under replace-one the sample must go to one GaussianDpEvent (add-remove is read by group privacy)"
        _refuse(event, why)
    if all(isinstance(part, GDP) for part, _ in parts):
        mu = math.sqrt(sum(part.mu**2 for part, _ in parts))
        return [(Sampled(GDP(mu, "add-remove"), rate, count), 1)]
    if len(parts) == 1 and parts[0][1] == 1 and isinstance(parts[0][0], (Laplace, Geometric)):
        return [(Sampled(parts[0][0], rate, count), 1)]
    _refuse(event, "the sample must go to Gaussian events, or to one LaplaceDpEvent or DiscreteLaplaceDpEvent")


def _tabulated(event: Any, count: int, relation: Neighbours) -> Parts:
    """Return what dp-accounting's own accountant says of an event, as a profile."""
    dp = import_dp_accounting()
    name = "REPLACE_ONE" if relation == "replace-one" else "ADD_OR_REMOVE_ONE"
    accountant = dp.pld.PLDAccountant(dp.NeighboringRelation[name])
    if not accountant.supports(event):
        _refuse(event, f"dp-accounting does not know it under {relation}")
    accountant.compose(event, count)
    return [(Profile.of(accountant.get_delta, relation), 1)]


_COMPOSITIONS = ("SelfComposedDpEvent", "ComposedDpEvent")
_TRANSLATED: dict[str, Callable[[Any, int, Neighbours], Parts]] = {
    "NoOpDpEvent": _nothing,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "RandomizedResponseDpEvent": _randomised_response,
    "ZCDpEvent": _zcdp,
    "PoissonSampledDpEvent": _poisson,
    "MixtureOfGaussiansDpEvent": _tabulated,
    "TruncatedSubsampledGaussianDpEvent": _tabulated,
}
