"""Bounds on memorisation, influence, and the gap between training and test loss of a trained model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..params import Param
from ..results import Bound
from .event_power import EITHER, RECORDS, REPLACE, group_power, power, promises_of

if TYPE_CHECKING:
    from ..guarantees.neighbours import Neighbours

__all__ = ["cross_influence", "generalisation", "memorisation"]

_INSTEAD = {"replace-one": "another record of the population in its place", "add-remove": "one record less"}
_TRAIN, _TEST = (
    Param(name=f"{name}_loss", low=0.0, high=1.0, what=f"the average {name} loss, of a loss between 0 and 1")
    for name in ("train", "test")
)


def _influence(rule: str, release: Any, neighbours: Neighbours | None) -> Bound:
    owner = rule.replace("-", "_")
    (promise,) = promises_of(owner, release, neighbours or "replace-one", EITHER)
    # Where only a curve is known, 1 - f(x) - x at its peak is the total variation.
    bounds = [1.0] if promise.tv is None else [promise.tv]
    bounds += [] if promise.curve is None else [promise.curve.gap()]
    without = f"neighbours: {promise.relation}, that is {_INSTEAD[promise.relation]}"
    notes = (promise.source, without, "a loss between 0 and 1")
    return Bound(value=min(bounds), side="upper", rule=rule, cites=("[UNIFY] Proposition F.1",), assumes=notes)


def memorisation(what: Any, *, neighbours: Neighbours | None = None) -> Bound:
    """Return how much the average loss on a record, or the hit rate of a test for it, can change by training on it.

    Guarantee
    ---------
    An upper bound on the absolute difference: the total variation.

    Assumes
    -------
    The loss lies between 0 and 1; the other records are fixed, or drawn in any way that does not depend on the record.
    Replace-one unless said: without the record means with another record of the population in its place.
    ``neighbours="add-remove"``: without it means one record less.

    Parameters
    ----------
    what
        A mechanism or a guarantee.
    neighbours
        What a data set without the record is.

    Notes
    -----
    Counterfactual memorisation as in [UNIFY] Definition F.2 and Proposition F.1 (replace-one); the definition of
    Feldman (2020) leaves the record out (add/remove), and so does Zhang et al. (2023) where every record is sampled
    independently. The total variation under add/remove does not bound the first: docs/derivations/notions.md.

    Examples
    --------
    >>> import dpradar as dr
    >>> run = dr.DPSGD(noise_multiplier=20.0, sample_rate=1.0, steps=100)
    >>> round(memorisation(run).value, 4), round(memorisation(run, neighbours="add-remove").value, 4)
    (0.3829, 0.1974)
    """
    return _influence("memorisation", what, neighbours)


def cross_influence(what: Any, *, neighbours: Neighbours | None = None) -> Bound:
    """Return how much the average loss on one record can change by training on another one.

    Guarantee
    ---------
    An upper bound on the absolute difference: the total variation.

    Assumes
    -------
    As `memorisation`: the record trained on is replaced by one of the population, or with ``neighbours="add-remove"``
    left out. The record on which the loss is measured may be any, whether or not it is in the data set.

    Parameters
    ----------
    what
        A mechanism or a guarantee.
    neighbours
        What a data set without the record is.

    Notes
    -----
    [UNIFY] Definition F.1; Proposition F.1 is stated for memorisation, and its proof covers both: the loss on the other
    record is one more function of the model with values between 0 and 1.

    Examples
    --------
    >>> import dpradar as dr
    >>> round(cross_influence(dr.GDP(mu=1.0, neighbours="replace-one")).value, 6)
    0.382925
    """
    return _influence("cross-influence", what, neighbours)


def generalisation(
    what: Any,
    train_loss: float | None = None,
    test_loss: float | None = None,
    *,
    records: int | None = None,
    neighbours: Neighbours | None = None,
) -> Bound:
    """Return the largest average test loss, given the average training loss, or the other way round.

    Guarantee
    ---------
    An upper bound, 1 - f(loss); with ``records`` 1 - f^(n)(loss), which also holds for a loss of the whole data set
    that is no average over its records.

    Assumes
    -------
    Losses between 0 and 1. Both losses are means over the draw of the data set (independent records) and over the
    randomness of training: nothing is said of one run. Replace-one, for every record.

    Parameters
    ----------
    what
        A mechanism or a guarantee.
    train_loss
        The average loss on the records trained on; leave it out to bound it.
    test_loss
        The average loss on fresh records; leave it out to bound it.
    records
        The size of the data set, where the loss is no average over records.
    neighbours
        Nothing but "replace-one".

    Notes
    -----
    [UNIFY] Lemmas E.1 and E.2. In Equation (40) the last R(T; theta) must read R(S; theta).

    Examples
    --------
    >>> import dpradar as dr
    >>> round(generalisation(dr.PureDP(epsilon=0.1, neighbours="replace-one"), train_loss=0.2).value, 6)
    0.221034
    """
    owner = "generalisation"
    if (train_loss is None) == (test_loss is None):
        hint = "Give the one that is known; the other one is bounded."
        got = "neither" if train_loss is None else "both"
        raise ParameterError(owner, "given exactly one of train_loss and test_loss", got, hint)
    loss = _TEST.check(owner, test_loss) if train_loss is None else _TRAIN.check(owner, train_loss)
    (promise,) = promises_of(owner, what, neighbours, REPLACE)
    if records is None:
        value, cite = power(promise, loss), "[UNIFY] Lemma E.1"
    else:
        value, cite = group_power(promise, loss, int(RECORDS.check(owner, records))), "[UNIFY] Lemma E.2"
    bounded = "training" if train_loss is None else "test"
    notes = (promise.source, f"neighbours: {promise.relation}", f"bounds the average {bounded} loss")
    return Bound(value=value, side="upper", rule=owner, cites=(cite,), assumes=notes)
