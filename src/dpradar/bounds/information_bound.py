"""The largest rad that some information about the record allows, whatever is known of the target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..guarantees.information import information_of
from ..numerics.lazy_numpy import np
from .fano import generalised_fano, replaced_information
from .profile_black_box import OTHERS, for_every_prior
from .question import Case, Inapplicable
from .rule import Finding
from .success import ANY

if TYPE_CHECKING:
    from ..guarantees.privacy import Privacy

__all__ = ["information_advantage", "information_rule"]

_MOST = 36.0  # more information allows everything to 1e-15
_INFLATED, _FLOOR = 1.0 + 1e-9, 1e-15
_SMALL = 0.03
_EDGE = 1e-12  # of a false-hit rate
_Candidate = tuple[float, str, str | None]  # nats, what says so, and the relation of the promise


def _pair(t: float) -> tuple[float, float, float]:
    """Return of the pair a < p with ln-odds 2 t apart that is hardest to tell apart: p - a, their divergence, and a."""
    if t < _SMALL:  # series: the terms cancel
        square = t * t
        advantage = t * (0.5 - square * (1.0 / 18.0 - square / 135.0))
        return advantage, square * (0.5 - square * (1.0 / 12.0 - square / 81.0)), 0.5 - t / 6.0
    e = math.exp(-2.0 * t)
    coth, inverse = (1.0 + e) / -math.expm1(-2.0 * t), 4.0 * e / math.expm1(-2.0 * t) ** 2  # and 1/sinh^2
    log_ratio = math.log(t) - t - math.log(-math.expm1(-2.0 * t)) + math.log(2.0)  # of t / sinh t
    return coth - 0.5 * t * inverse - 0.5 / t, t * coth - t * t * inverse + log_ratio, 0.5 * (1.0 + 1.0 / t - coth)


def information_advantage(information: float, least: float = 0.0, most: float = 1.0) -> float:
    """Return the largest p - a with d(p||a) <= information and least <= a <= most, rounded up.

    d is the Kullback-Leibler divergence of two yes/no answers.

    Guarantee
    ---------
    An upper bound on rad when the mutual information of record and output is at most ``information`` (nats) and the
    false-hit rate of every attack lies between ``least`` and ``most``: any knowledge, any goal.

    Notes
    -----
    Ours; docs/derivations/information.md. The optimum has the parameters of Fedotov, Harremoes and Topsoe (2003). At
    most sqrt(information / 2), Pinsker's inequality.

    Examples
    --------
    >>> [round(information_advantage(i), 7) for i in (0.02, 0.125, 0.5)]
    [0.0998887, 0.2482479, 0.4855668]
    >>> round(information_advantage(0.5, 0.25, 0.25), 6)
    0.476926
    """
    if information <= 0.0:
        return 0.0
    if not information < _MOST:
        return 1.0
    target = information * _INFLATED + _FLOOR
    low, high = 0.0, 1.0
    while _pair(high)[1] < target:
        low, high = high, 2.0 * high
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _pair(middle)[1] < target else (low, middle)
    value, _, place = _pair(high)
    # p - a is concave in a: outside the interval the end nearest to the optimum counts.
    nearest = min(max(place, least), most)
    if abs(nearest - place) > _EDGE:
        side = nearest + _EDGE if nearest < place else max(nearest - _EDGE, 0.0)
        value = min(value, generalised_fano(side, target) - side + 2.0 * _EDGE)
    return min(1.0, value * (1.0 + _EDGE), math.sqrt(0.5 * information) * (1.0 + _EDGE))  # the last is Pinsker's


def information_rule(case: Case) -> list[Finding]:
    """RAD <= largest p - a with d(p||a) <= I, I the information of record and output: any knowledge and goal (ours).

    The promise may compare with another record, the record's absence or one fixed reference, of which the first is
    weakened by the chance that the two records agree. Gaussian noise on vectors: also half their variance.
    """
    if case.threat.kind == "membership":
        message = "membership compares in with out; the advantage compares two records"
        raise Inapplicable(message)
    candidates: list[_Candidate] = [(_information(case, one), one.source, one.relation) for one in _promises(case)]
    candidates += _of_vectors(case)
    information, source, relation = min(candidates, key=lambda row: row[0], default=(math.inf, "", None))
    if not information < _MOST:
        message = "needs a finite bound on the information about the record, such as epsilon with delta = 0, mu or rho"
        raise Inapplicable(message)
    least, most = _false_hits(case)
    value = information_advantage(information, least, most)
    # Its number of nats may depend on the prior, and is not shown.
    finding = Finding(quantity="rad", value=value, assumes=(source, OTHERS), neighbours=relation)
    return for_every_prior(case.threat, finding)


def _promises(case: Case) -> list[Privacy]:
    return [promise for relation in ANY if (promise := case.promise(relation)) is not None]


def _information(case: Case, promise: Privacy) -> float:
    divergence = information_of(promise)
    if promise.relation != "replace-one" or case.threat.prior is None or not divergence < math.inf:
        return divergence
    if case.threat.prior.is_continuous:
        return divergence
    return replaced_information(case.threat.prior.probabilities, divergence)


def _of_vectors(case: Case) -> list[_Candidate]:
    """Return half the variance of the vectors under Gaussian noise of size 1: their mean is a reference."""
    release, prior = case.release, case.threat.prior
    if release is None or release.vectors is None or prior is None or prior.is_continuous:
        return []
    vectors, pi = release.vectors, prior.probabilities
    if vectors.shape[0] != pi.size:
        return []
    apart = np.square(vectors - pi @ vectors).sum(axis=1)
    return [(0.5 * float(pi @ apart) * _INFLATED, "Gaussian noise on vectors, against that around their mean", None)]


def _false_hits(case: Case) -> tuple[float, float]:
    """Return between which rates every attack is right about a record that the output does not depend on."""
    threat = case.threat
    if threat.kind == "worst":
        return 0.0, 1.0
    # Where something is known, or values may be missing from the prior, a guess may be right for nobody.
    listed = threat.kind == "record" and threat.knowledge.kind == "nothing" and not case.prior.is_open
    return threat.kappa_minus if listed else 0.0, threat.highest_blind_guess
