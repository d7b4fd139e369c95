"""Measurements of OpenDP, and its privacy profiles."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...errors import MissingExtra, ParameterError, UnsupportedError
from ...guarantees.approx import ApproxDP, PureDP
from ...guarantees.neighbours import Neighbours, check_neighbours
from ...guarantees.profile import Profile
from ...guarantees.renyi import RDP, ZCDP, RenyiBound, renyi_curve, renyi_epsilon
from ...numerics.lazy_numpy import np
from ...params import Param, shown

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["from_opendp"]

Guarantee = PureDP | ApproxDP | ZCDP | RDP | Profile

# What one step is in each metric between data sets, and how many steps replacing one record takes.
_RELATION: dict[str, Neighbours] = {
    "SymmetricDistance": "add-remove",
    "InsertDeleteDistance": "add-remove",
    "SymmetricIdDistance": "add-remove",
    "ChangeOneDistance": "replace-one",
    "HammingDistance": "replace-one",
    "ChangeOneIdDistance": "replace-one",
    "DiscreteDistance": "replace-one",
}
_STEPS = Param(name="d_in", integer=True, low=1, what="how many records one person can change")


def from_opendp(
    measurement: Any, neighbours: Neighbours | None = None, *, d_in: Any = None
) -> PureDP | ApproxDP | ZCDP | RDP | Profile:
    """Return the guarantee that an OpenDP measurement's privacy map, or a privacy profile, states.

    Guarantee
    ---------
    What the map says at ``d_in``, no more: OpenDP's Gaussian measurement reports its zCDP, which is less than is known
    of Gaussian noise. Where the noise itself is known, describe it (``Gaussian``, ``Laplace``) for tighter answers.

    Parameters
    ----------
    measurement
        A ``Measurement`` with output measure MaxDivergence, ZeroConcentratedDivergence, RenyiDivergence,
        SmoothedMaxDivergence or Approximate of the first two; or a ``PrivacyProfile``.
    neighbours
        May be left out where the input metric settles it: SymmetricDistance and InsertDeleteDistance at a distance of
        1 are add/remove; ChangeOneDistance, HammingDistance and DiscreteDistance are replace-one. Otherwise it must be
        stated, and it is checked against the metric. A privacy profile has no metric.
    d_in
        How far apart the data of neighbours are, in the input metric; a measurement needs it, because it does not know
        how many records one person holds. Where everyone holds one record it is 1, but 2 for replace-one under
        SymmetricDistance, where a replaced record counts as one removed and one added. With up to k records per person
        it is k, or 2 k. For metrics between numbers (AbsoluteDistance, L1Distance, ...) it is the sensitivity under
        ``neighbours``, for FrameDistance a list of bounds; ``neighbours`` must be stated then.

    Notes
    -----
    The measure and the metric are identified by their ``type``: a user-defined divergence may print as one of OpenDP's
    own.

    Examples
    --------
    With OpenDP installed::

        import opendp.prelude as dp

        coin = dp.m.make_randomized_response_bool(prob=0.75)
        from_opendp(coin, d_in=1)  # PureDP(epsilon=1.0986..., neighbours='replace-one')
    """
    library = _library()
    if isinstance(measurement, library.PrivacyProfile):
        return Profile.of(measurement.delta, check_neighbours("from_opendp", neighbours))
    if not isinstance(measurement, library.Measurement):
        raise ParameterError("from_opendp", "given a Measurement or a PrivacyProfile of OpenDP", shown(measurement))
    measure = str(measurement.output_measure.type)
    if measure not in _GUARANTEE_OF_MEASURE:
        supported = ", ".join(_GUARANTEE_OF_MEASURE)
        message = (
            f"the output measure {measure} ({shown(measurement.output_measure)}) is not one we can read: {supported}"
        )
        raise UnsupportedError(message)
    relation, distance = _distance(measurement, neighbours, d_in)
    return _GUARANTEE_OF_MEASURE[measure](measurement.map(distance), relation)


def _library() -> Any:
    try:
        return import_module("opendp.prelude")
    except ImportError:
        raise MissingExtra("opendp", "opendp") from None


def _distance(measurement: Any, neighbours: Neighbours | None, d_in: Any) -> tuple[Neighbours, Any]:
    """Return the relation and the distance at which the map is read, or say what does not fit."""
    metric = str(measurement.input_metric.type)
    stated = None if neighbours is None else check_neighbours("from_opendp", neighbours)
    step = _RELATION.get(metric)
    if step is None:
        return _sensitivity(metric, stated, d_in, str(measurement.input_distance_type))
    if stated == "add-remove" and step == "replace-one":
        hint = "A guarantee about replacing a record does not cover adding or removing one."
        raise ParameterError("from_opendp.neighbours", f"'replace-one' with {metric}", "'add-remove'", hint)
    least = 2 if stated == "replace-one" and step == "add-remove" else 1
    if d_in is None:
        hint = f"It is {least} where everyone holds one record, and {least} times k with up to k records per person."
        raise ParameterError("from_opendp.d_in", f"stated: how far apart neighbours are in {metric}", "None", hint)
    records = int(_STEPS.check("from_opendp", d_in))
    if stated is None and step == "add-remove" and records > 1:
        hint = f"That far apart are a person with {records} records there or not, or one with {records // 2} replaced."
        raise ParameterError("from_opendp.neighbours", f"stated when d_in = {records} in {metric}", "None", hint)
    if records < least:
        hint = "A replaced record is one removed and one added, so it is a distance of 2 there."
        raise ParameterError("from_opendp.d_in", f"at least 2 for replace-one in {metric}", records, hint)
    return stated or step, records


def _sensitivity(metric: str, stated: Neighbours | None, d_in: Any, kind: str) -> tuple[Neighbours, Any]:
    if stated is None:
        hint = f"Distances in {metric} do not settle it: 'add-remove' or 'replace-one'."
        raise ParameterError("from_opendp.neighbours", "stated here", "None", hint)
    if d_in is None:
        hint = f"It is how far apart neighbours under {stated} can be in {metric}."
        raise ParameterError("from_opendp.d_in", "stated here", "None", hint)
    return stated, float(d_in) if kind.startswith("f") else d_in


def _pure(loss: float, neighbours: Neighbours) -> Guarantee:
    return PureDP(loss, neighbours)


def _approx(loss: tuple[float, float], neighbours: Neighbours) -> Guarantee:
    return ApproxDP(*loss, neighbours)


def _concentrated(loss: float, neighbours: Neighbours) -> Guarantee:
    return ZCDP(loss, neighbours)


def _profile(loss: Any, neighbours: Neighbours) -> Guarantee:
    return Profile.of(loss.delta, neighbours)


def _renyi(loss: Callable[[float], float], neighbours: Neighbours) -> Guarantee:
    orders = 1.0 + np.geomspace(1e-2, 1e4, 120)
    epsilons = np.array([loss(float(order)) for order in orders])
    finite = np.isfinite(epsilons)
    return RDP(orders[finite].tolist(), epsilons[finite].tolist(), neighbours)


def _approx_concentrated(loss: tuple[float, float], neighbours: Neighbours) -> Guarantee:
    """Return approximate zCDP as a profile: zCDP outside an event of probability delta (Bun and Steinke 2016, 8.1).

    From P <= delta + (1 - delta) P' and (1 - delta) Q' <= Q follows P <= e^eps Q + delta + (1 - delta) delta'(eps).
    """
    rho, delta = loss
    if delta == 0.0:
        return ZCDP(rho, neighbours)
    bound = RenyiBound(rho=rho)
    tv = renyi_curve(bound).gap()
    inner = np.append(np.geomspace(1e-14, tv, 160), tv) if tv > 0.0 else np.zeros(1)
    epsilons = [renyi_epsilon(bound, float(d)) for d in inner]
    return Profile(epsilons, np.minimum(delta + (1.0 - delta) * inner, 1.0).tolist(), neighbours)


_GUARANTEE_OF_MEASURE: dict[str, Callable[[Any, Neighbours], Guarantee]] = {
    "MaxDivergence": _pure,
    "Approximate<MaxDivergence>": _approx,
    "ZeroConcentratedDivergence": _concentrated,
    "Approximate<ZeroConcentratedDivergence>": _approx_concentrated,
    "RenyiDivergence": _renyi,
    "SmoothedMaxDivergence": _profile,
}
