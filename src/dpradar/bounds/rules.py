"""Every theorem dpradar knows, in one explicit tuple; ``assess`` runs all that apply."""

from __future__ import annotations

from . import blackbox, programme, rad, success
from .case import Case, Inapplicable
from .exact.continuous import continuous_risk
from .exact.diagonal import diagonal_risk
from .exact.finite import finite_risk
from .exact.inclusion import inclusion_risk
from .exact.line import line_risk
from .exact.simulation import FAILURE, simulated_risk
from .exact.vectors import collinear_risk, equidistant_gaussian, one_hot_risk
from .rule import Finding, Rule

__all__ = ["RULES"]

_MOST_ENTRIES = 100_000_000  # inputs x outputs a finite channel may have: some seconds
_MOST_LINE = 3_000  # values on the line
_THM_4_3 = "[RAD] Theorem 4.3"


def _missing(what: str) -> Inapplicable:
    return Inapplicable(f"needs {what}")


def _diagonal(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None or case.release.diagonal is None:
        raise _missing("randomised response")
    return diagonal_risk(case.release.diagonal, prior, case.threat.cover).findings()


def _inclusion(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None or case.release.inclusion is None:
        raise _missing("a report that is a set of values")
    return inclusion_risk(case.release.inclusion, prior, case.threat.cover).findings()


def _finite(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None or case.release.finite is None:
        raise _missing("a mechanism with finitely many outputs")
    entries = case.release.finite.outputs * prior.size
    if entries > _MOST_ENTRIES:
        message = f"lists every output: at most {_MOST_ENTRIES:.0g} entries of the channel, here more"
        raise Inapplicable(message)
    return finite_risk(case.release.finite, prior, case.threat.cover).findings()


def _line(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None or case.release.line is None:
        raise _missing("noise on one number per value")
    if prior.size > _MOST_LINE:
        message = f"integrates over at most {_MOST_LINE} values"
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
        message = f"integrates over at most {_MOST_LINE} values"
        raise Inapplicable(message)
    return collinear_risk(case.release.vectors, prior, case.threat.cover).findings()


def _one_hot(case: Case) -> list[Finding]:
    prior = case.finite_prior
    model = None if case.release is None else case.release.one_hot
    if model is None:
        if case.release is None or case.release.vectors is None:
            raise _missing("noise on the cells of a histogram, or Gaussian noise on vectors")
        model = equidistant_gaussian(case.release.vectors)
    return one_hot_risk(model, prior, case.threat.cover).findings()


def _simulation(case: Case) -> list[Finding]:
    prior = case.finite_prior
    if case.release is None:
        raise _missing("a mechanism that can be simulated")
    rad_interval, success_interval, draws = simulated_risk(case.release, prior, case.threat.cover, case.rng)
    found = []
    for quantity, (low, high) in (("rad", rad_interval), ("success", success_interval)):
        note = f"simulation of {draws} outputs: in [{max(low, 0.0):.6g}, {high:.6g}] with probability 1 - {FAILURE:g}"
        found.append(Finding(quantity=quantity, value=max(low, 0.0), side="lower", assumes=(note,)))  # type: ignore[arg-type]
    return found


def _engine(name: str, title: str, find: object, *cites: str) -> Rule:
    return Rule(name=name, title=title, cites=cites, quantities=("rad", "success"), find=find, engine=True)  # type: ignore[arg-type]


_UNPROVEN = "Sauer 2025 (proof has a gap: single pairs may count negative)"

RULES: tuple[Rule, ...] = (
    _engine("exact-grr", "randomised response, closed form", _diagonal, _THM_4_3, "[RAD] Example 4.4"),
    _engine(
        "exact-sets", "reports that are sets of values, by counting", _inclusion, _THM_4_3, "[RAD] Examples 4.5, 4.6"
    ),
    _engine("exact-line", "noise on the line, certified integral", _line, _THM_4_3, "[RAD] Examples 4.7, 4.8"),
    _engine("exact-finite", "finite channel, sum over outputs", _finite, _THM_4_3),
    _engine("exact-continuous", "continuous prior, quadrature", _continuous, _THM_4_3, "[RAD] A.2"),
    _engine("exact-collinear", "Gaussian noise on vectors of one line", _collinear, _THM_4_3),
    _engine("exact-one-hot", "histogram cells, one-dimensional integral", _one_hot, _THM_4_3),
    Rule(
        name="simulation",
        title="the optimal attack, simulated",
        cites=(_THM_4_3, "Maurer and Pontil 2009"),
        quantities=("rad", "success"),
        find=_simulation,
        engine=True,
    ),
    Rule(
        name="black-box-pure",
        title="largest value under pure DP, certified by duality",
        cites=("dpradar derivation: black box",),
        quantities=("rad",),
        find=blackbox.pure_black_box_rule,
    ),
    Rule(
        name="black-box-program",
        title="largest value under (epsilon, delta)-DP, linear program",
        cites=("dpradar derivation: black box",),
        quantities=("rad",),
        find=programme.approx_black_box_rule,
    ),
    Rule(
        name="root-bound",
        title="root of f(x) = (m-1) x",
        cites=("dpradar derivation: root bound",),
        quantities=("rad", "success"),
        find=rad.root_bound,
    ),
    Rule(
        name="hayes-minus-blind",
        title="success bound minus the worst blind guess",
        cites=("[RAD] Equation (3)", "dpradar derivation: success minus blind guess"),
        quantities=("rad",),
        find=rad.hayes_minus_blind,
    ),
    Rule(
        name="cor-5.6",
        title="uniform prior",
        cites=("[RAD] Corollary 5.6",),
        quantities=("rad",),
        find=rad.corollary_5_6,
    ),
    Rule(
        name="thm-5.5",
        title="knapsack over values",
        cites=("[RAD] Theorem 5.5",),
        quantities=("rad",),
        find=rad.theorem_5_5,
    ),
    Rule(
        name="thm-5.1-interval",
        title="f-DP between kappa- and kappa+",
        cites=("[RAD] Theorem 5.1",),
        quantities=("rad",),
        find=rad.theorem_5_1_interval,
    ),
    Rule(
        name="thm-5.1-scaled",
        title="f-DP scaled by 1 - kappa",
        cites=("[RAD] Theorem 5.1",),
        quantities=("rad",),
        find=rad.theorem_5_1_scaled,
    ),
    Rule(
        name="prop-5.3",
        title="(epsilon, delta), nothing known",
        cites=("[RAD] Proposition 5.3",),
        quantities=("rad",),
        find=rad.proposition_5_3,
    ),
    Rule(
        name="thesis-cor-2",
        title="f-DP, uniform prior",
        cites=("Sauer 2025, Corollary 2",),
        quantities=("rad",),
        find=rad.thesis_corollary_2,
    ),
    Rule(
        name="thesis-thm-7",
        title="knapsack over pairs",
        cites=(f"{_UNPROVEN}, Theorem 7",),
        quantities=("rad",),
        find=rad.thesis_theorem_7,
        proven=False,
    ),
    Rule(
        name="thesis-thm-8",
        title="knapsack over pairs, f-DP",
        cites=(f"{_UNPROVEN}, Theorem 8",),
        quantities=("rad",),
        find=rad.thesis_theorem_8,
        proven=False,
    ),
    Rule(
        name="pairwise-tv",
        title="average total variation of pairs",
        cites=("[RAD] proof of Theorem 4.2",),
        quantities=("rad",),
        find=rad.pairwise_tv,
    ),
    Rule(
        name="thm-4.2", title="total variation", cites=("[RAD] Theorem 4.2",), quantities=("rad",), find=rad.theorem_4_2
    ),
    Rule(
        name="rero-1",
        title="e^epsilon times the blind guess",
        cites=("[RAD] Equation (1)", "Balle, Cherubin and Hayes 2022"),
        quantities=("success",),
        find=success.rero_epsilon,
    ),
    Rule(
        name="rero-3",
        title="one minus f at the blind guess",
        cites=("[RAD] Equation (3)", "Hayes et al. 2023", "[UNIFY] Theorem 3.2"),
        quantities=("success",),
        find=success.rero_curve,
    ),
    Rule(
        name="blind-plus-tv",
        title="blind guess plus total variation",
        cites=("[UNIFY] Theorem 3.4",),
        quantities=("success", "gain"),
        find=success.tv_success,
    ),
    Rule(
        name="membership",
        title="Bayes error between in and out",
        cites=("[UNIFY] Theorem D.1",),
        quantities=("success",),
        find=success.membership_success,
    ),
    Rule(
        name="total-variation",
        title="total variation",
        cites=("[UNIFY] Theorem 3.4",),
        quantities=("worst_gain",),
        find=success.worst_gain,
    ),
    Rule(
        name="trivial",
        title="what holds for every mechanism",
        cites=(),
        quantities=("rad", "success"),
        find=rad.trivial,
    ),
)
