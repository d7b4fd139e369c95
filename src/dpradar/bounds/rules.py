"""Every theorem of dpradar, in one explicit tuple; ``assess`` runs all that apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..results.assessment import TOO_MANY
from . import approx_black_box, information_bound, profile_black_box, pure_black_box, rad, renyi_rules, success
from .exact.argmax_location import argmax_risk
from .exact.continuous_prior import continuous_risk
from .exact.finite_channel import finite_risk
from .exact.known_cell import known_cell_risk
from .exact.line_noise import line_risk
from .exact.randomised_response import diagonal_risk
from .exact.repeated_counts import count_risk
from .exact.set_partitions import partition_risk
from .exact.set_reports import inclusion_risk, names_values
from .exact.set_windows import set_window_risk
from .exact.simulation import FAILURE, simulated_risk
from .exact.two_values import two_value_risk
from .exact.vector_noise import collinear_risk, equidistant_gaussian, one_hot_risk
from .question import Case, Inapplicable
from .rule import Finding, Rule

if TYPE_CHECKING:
    from ..mechanisms.capabilities import OneHot
    from ..results.bound import Quantity

__all__ = ["RULES"]

_MOST_ENTRIES = 100_000_000  # inputs x outputs a finite channel may have: some seconds
_FEW_ENTRIES = 10_000_000  # some tenths of a second
_MOST_LINE = 3_000  # values on the line
_THM_4_2, _THM_4_3 = "[RAD] Theorem 4.2", "[RAD] Theorem 4.3"
_OURS = "dpradar derivation"
_UNIFY_3_2, _UNIFY_3_4 = "[UNIFY] Theorem 3.2", "[UNIFY] Theorem 3.4"
Find = Callable[[Case], Sequence[Finding]]


def _missing(requirement: str) -> Inapplicable:
    return Inapplicable(f"needs {requirement}")


def _diagonal(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None or case.release.diagonal is None:
        raise _missing("randomised response")
    return diagonal_risk(case.release.diagonal, prior, case.threat.cover).findings()


def _inclusion(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None or case.release.inclusion is None:
        raise _missing("a report that is a set of values")
    channel, cover = case.release.inclusion, case.threat.cover
    if names_values(cover):
        return inclusion_risk(channel, prior, cover).findings()
    if case.release.set_law is None:
        raise _missing("a report that holds each other value independently and not too rarely, or a fixed number")
    listed = case.release.finite
    if listed is not None and listed.outputs * prior.size <= _FEW_ENTRIES:
        message = "reports are so few that they are listed, which finds the hits too"
        raise Inapplicable(message)
    if cover.parts is not None:
        return partition_risk(channel, case.release.set_law, prior, cover).findings()
    return set_window_risk(case.release.set_law, prior, cover).findings()


def _finite(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None or case.release.finite is None:
        raise _missing("a mechanism with finitely many outputs")
    entries = case.release.finite.outputs * prior.size
    if entries > _MOST_ENTRIES:
        message = f"{TOO_MANY}: lists every output, at most {_MOST_ENTRIES:.0g} entries of the channel"
        raise Inapplicable(message)
    return finite_risk(case.release.finite, prior, case.threat.cover).findings()


def _line(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None or case.release.line is None:
        raise _missing("noise on one number per value")
    risk = None
    if prior.is_uniform or prior.size > _MOST_LINE:
        risk = argmax_risk(case.release.line, prior, case.threat.cover)
    if risk is not None:
        return risk.findings()
    if prior.size > _MOST_LINE:
        message = f"{TOO_MANY}: integrates over at most {_MOST_LINE:,}"
        raise Inapplicable(message)
    return line_risk(case.release.line, prior, case.threat.cover).findings()


def _continuous(case: Case) -> list[Finding]:
    if not case.prior.is_continuous:
        raise _missing("a continuous prior")
    if case.release is None or case.release.continuous is None:
        raise _missing("a mechanism that takes any number of an interval")
    return continuous_risk(case.release.continuous, case.threat).findings()


def _collinear(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None or case.release.vectors is None:
        raise _missing("Gaussian noise on vectors")
    if prior.size > _MOST_LINE:
        message = f"{TOO_MANY}: integrates over at most {_MOST_LINE:,}"
        raise Inapplicable(message)
    return collinear_risk(case.release.vectors, prior, case.threat.cover).findings()


def _cells(case: Case) -> OneHot:
    """Return the noisy histogram that the release is, or is as good as."""
    if case.release is not None and case.release.one_hot is not None:
        return case.release.one_hot
    if case.release is None or case.release.vectors is None:
        raise _missing("noise on the cells of a histogram, or Gaussian noise on vectors")
    return equidistant_gaussian(case.release.vectors)


def _one_hot(case: Case) -> list[Finding]:
    prior = case.finite_prior
    return one_hot_risk(_cells(case), prior, case.threat.cover).findings()


def _known_cell(case: Case) -> list[Finding]:
    prior = case.finite_prior
    return known_cell_risk(_cells(case), prior, case.threat.cover).findings()


def _counts(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None or case.release.counts is None:
        raise _missing("a local report made several times")
    return count_risk(case.release.counts, prior, case.threat.cover).findings()


def _two_values(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None or case.release.pair is None:
        raise _missing("a release that is known exactly for two values")
    return two_value_risk(case.release.pair, prior, case.threat.cover).findings()


def _simulation(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None:
        raise _missing("a mechanism that can be simulated")
    rad_interval, success_interval, draws = simulated_risk(case.release, prior, case.threat.cover, case.rng)
    findings = []
    for quantity, (low, high) in (("rad", rad_interval), ("success", success_interval)):
        note = f"simulation of {draws} outputs: in [{max(low, 0.0):.6g}, {high:.6g}] with probability 1 - {FAILURE:g}"
        findings.append(Finding(quantity=quantity, value=max(low, 0.0), side="lower", assumes=(note,)))  # type: ignore[arg-type]
    return findings


def _with_zero_rad(find: Find) -> Find:
    """Return the engine with a rad of exactly 0 where no release can be of use, whatever rounding made of it."""

    def find_or_zero(case: Case) -> Sequence[Finding]:
        findings = find(case)
        if not case.threat.is_settled:
            return findings
        return [replace(f, value=0.0, low=0.0, side="exact") if f.quantity == "rad" else f for f in findings]

    return find_or_zero


def _engine(name: str, title: str, find: Find, *cites: str) -> Rule:
    quantities: tuple[Quantity, ...] = ("rad", "success")
    return Rule(
        name=name, title=title, cites=(_THM_4_3, *cites), quantities=quantities, find=_with_zero_rad(find), engine=True
    )


def _rad(name: str, title: str, find: Find, *cites: str) -> Rule:
    return Rule(name=name, title=title, cites=cites, quantities=("rad",), find=find)


def _success(name: str, title: str, find: Find, *cites: str) -> Rule:
    return Rule(name=name, title=title, cites=cites, quantities=("success",), find=find)


RULES: tuple[Rule, ...] = (
    # The exact value, by whichever engine fits first.
    _engine("exact-grr", "randomised response, closed form", _diagonal, "[RAD] Example 4.4"),
    _engine("exact-sets", "reports that are sets of values, by counting", _inclusion, "[RAD] Examples 4.5, 4.6"),
    _engine("exact-line", "noise on the line, certified integral", _line, "[RAD] Examples 4.7, 4.8"),
    _engine("exact-counts", "a local report made several times, by counting", _counts, _OURS),
    _engine("exact-finite", "finite channel, sum over outputs", _finite),
    _engine("exact-continuous", "continuous prior, enclosed from both sides", _continuous, "[RAD] A.2"),
    _engine("exact-collinear", "Gaussian noise on vectors of one line", _collinear),
    _engine("exact-one-hot", "histogram cells, one-dimensional integral", _one_hot),
    _engine("exact-known-cell", "histogram cells, record known, law of a sum", _known_cell),
    _engine("exact-two-values", "two possible values, total variation from both sides", _two_values, _THM_4_2),
    replace(
        _engine("simulation", "the optimal attack, simulated", _simulation, "Maurer and Pontil 2009"), from_below=True
    ),
    # Upper bounds on rad.
    _rad("black-box-pure", "largest value under pure DP, certified", pure_black_box.pure_black_box_rule, _OURS),
    _rad("black-box-program", "largest value under (epsilon, delta)", approx_black_box.approx_black_box_rule, _OURS),
    replace(_rad("root-bound", "root of f(x) = (m-1) x", rad.root_bound, _OURS), quantities=("rad", "success")),
    _rad("hayes-minus-blind", "success minus blind guess", rad.hayes_minus_blind, "[RAD] Equation (3)", _OURS),
    _rad("cor-5.6", "uniform prior", rad.corollary_5_6, "[RAD] Corollary 5.6"),
    _rad("thm-5.5", "knapsack over values", rad.theorem_5_5, "[RAD] Theorem 5.5"),
    _rad("thm-5.1-interval", "f-DP between kappa- and kappa+", rad.theorem_5_1_interval, "[RAD] Theorem 5.1"),
    _rad("thm-5.1-scaled", "f-DP scaled by 1 - kappa", rad.theorem_5_1_scaled, "[RAD] Theorem 5.1"),
    _rad("prop-5.3", "(epsilon, delta), nothing known", rad.proposition_5_3, "[RAD] Proposition 5.3"),
    _rad("thesis-cor-2", "f-DP, uniform prior", rad.thesis_corollary_2, "Sauer 2025, Corollary 2"),
    _rad("thesis-thm-7", "knapsack over pairs", rad.thesis_theorem_7, "Sauer 2025, Theorem 7"),
    _rad("thesis-thm-8", "knapsack over pairs, f-DP", rad.thesis_theorem_8, "Sauer 2025, Theorem 8"),
    _rad("knapsack-root", "knapsack over values, f-DP", rad.knapsack_root, "[RAD] Theorem 5.5", _OURS),
    _rad("pairwise-tv", "average total variation of pairs", rad.pairwise_tv, "[RAD] proof of Theorem 4.2"),
    _rad("thm-4.2", "total variation", rad.theorem_4_2, "[RAD] Theorem 4.2"),
    # Upper bounds on success and on the gain over every threat.
    _success("rero-1", "e^epsilon times the blind guess", success.rero_epsilon, "[RAD] Equation (1)"),
    _success("rero-3", "one minus f at the blind guess", success.rero_curve, "[RAD] Equation (3)", _UNIFY_3_2),
    replace(
        _success("blind-plus-tv", "blind guess plus total variation", success.tv_success, _UNIFY_3_4),
        quantities=("success", "gain"),
    ),
    _success("binary", "Bayes error between two answers", success.binary_success, "[UNIFY] Theorem D.1"),
    _success("membership", "Bayes error between in and out", success.membership_success, "[UNIFY] Theorem D.1"),
    _success("rdp", "Renyi divergence at the best order", renyi_rules.renyi_rule, "Balle et al. 2022"),
    _success("zcdp", "concentrated differential privacy", renyi_rules.zcdp_rule, "[UNIFY] Section 4"),
    _success("fano", "mutual information", renyi_rules.fano_rule, "Guo et al. 2023"),
    replace(_success("total-variation", "total variation", success.worst_gain, _UNIFY_3_4), quantities=("worst_gain",)),
    # Upper bounds on rad, and without a prior on the gain; of equal bounds the simpler ones above are named.
    replace(
        _rad("black-box-profile", "privacy profile, anything known", profile_black_box.profile_rule, _OURS),
        quantities=("rad", "gain"),
        unless_exact=True,
    ),
    replace(
        _rad("information", "information about the record", information_bound.information_rule, _OURS),
        quantities=("rad", "gain"),
        unless_exact=True,
    ),
    replace(_rad("trivial", "what holds for every mechanism", rad.trivial), quantities=("rad", "success")),
)
