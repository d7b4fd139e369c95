"""Every other kind of result: calibrations, attacks, audits, pipelines, dependent records, notions, models, files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import dpradar as dr
from dpradar import correlated as co
from dpradar import granularity as gr
from dpradar import notions
from dpradar.guarantees.epsilon import epsilon_at
from dpradar.learning import GradientScores, attack_gradients, canary_audit, candidate_mechanism, candidate_risk
from dpradar.results.loading import result_of
from tests.numbers.asking import FILES, assess, attack, calibrate, note
from tests.numbers.questions.guarantees import GUARANTEES
from tests.numbers.questions.mechanisms import MECHANISMS
from tests.numbers.questions.parts import everything, line, skewed, stranger

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["QUESTIONS"]

_RO: Any = "replace-one"
_AR: Any = "add-remove"
_CHAIN = [[0.9, 0.1], [0.3, 0.7]]
_COUNT = gr.Partition(name="age", kind="value")
_STREAM = {u: {t: (t * u) % 3 for t in range(30)} for u in range(1, 5)}
_PAIRWISE = [[1.0, 0.0], [0.8, 0.6], [-1.0, 0.0]]


def _half(inputs: Any, rng: Any) -> Any:
    return inputs + rng.laplace(0.0, 0.5, len(inputs))


def _audit(sampler: Any, epsilon: float, domain: int = 2, **options: Any) -> dr.AuditResult:
    claim = options.pop("claim", dr.PureDP(epsilon, neighbours=_RO))
    return dr.audit(sampler, claim=claim, domain=domain, seed=1, **{"trials": 4_000, **options})


def _frequencies(protocol: Any) -> Any:
    note("release", type(protocol).__name__)
    rng = np.random.default_rng(1)
    return dr.frequencies(protocol, protocol.at(None).sample(rng.integers(0, 4, 500), rng))


def _samples() -> dr.Samples:
    rng = np.random.default_rng(1)
    inputs = np.arange(2_000) % 2
    return dr.Samples.of(inputs, np.where(rng.random(2_000) < 0.9, inputs, 1 - inputs))


def _parallel(domain: Any) -> gr.Pipeline:
    both = {"bounded": 0.5, "unbounded": 0.5}
    steps = [gr.Step(name=n, epsilon=both, partition="age", cell=n, domain=domain) for n in ("young", "old")]
    return gr.Pipeline(steps=steps, partitions=[_COUNT], claim=gr.Claim(granularity="unbounded", epsilon=0.5))


def _gaussian_steps() -> gr.Pipeline:
    sums = gr.Step(name="sum", mu=0.5, granularity="unbounded", times=4)
    return gr.Pipeline(steps=[sums, gr.Step(name="count", epsilon=0.1, granularity="unbounded")], targets=["bounded"])


def _noisy() -> gr.Pipeline:
    step = gr.Step(name="counts", epsilon=1.0, granularity="unbounded", practice=gr.Practice(noise_on="present"))
    return gr.Pipeline(steps=[step], claim=gr.Claim(granularity="unbounded", epsilon=1.0))


def _fit() -> Any:
    import csv

    with (FILES / "families.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    table = {name: [row[name] for row in rows] for name in rows[0]}
    return co.fit(table, group="family", value="height", clip=(0.0, 254.0))


def _gradients() -> Any:
    rng, eye = np.random.default_rng(1), np.eye(4)
    targets = rng.integers(0, 4, size=500)
    scores = GradientScores(runs=500, candidates=4, clip=1.0, noise_multiplier=0.5)
    scores.add(eye[targets] + rng.normal(0.0, 0.5, (500, 4)), eye)
    return attack_gradients(scores, targets, stranger(4))


def _canaries(mode: Any) -> Any:
    rng = np.random.default_rng(1)
    inside, outside = rng.normal(2.0, 1.0, 300), rng.normal(0.0, 1.0, 300)
    return canary_audit(inside, outside, dr.PureDP(1.0, neighbours=_AR), mode=mode, seed=1)


def _reloaded(result: Any, **changes: Any) -> Any:
    """Return what is read back of a saved result in which entries were changed; a/b is an entry within one."""
    data = result.to_dict()
    for path, value in changes.items():
        place = data
        *inside, last = path.split("__")
        for key in inside:
            place = place[key]
        place[last] = value
    note("loaded", data["schema"])
    return result_of(data)


def _assessment() -> dr.Assessment:
    return dr.assess(dr.GRR(m=4, epsilon=1.0), dr.Threat(dr.Prior.of([0.4, 0.3, 0.2, 0.1])))


_NO_SAMPLES = ("dpsgd", "dpsgd-full-batches", "opacus", "composed-guarantee")
QUESTIONS: dict[str, Callable[[], Any]] = {
    f"attack/{name}": lambda make=make: attack(make(), skewed()) for name, make in MECHANISMS.items() if name not in _NO_SAMPLES
}  # fmt: skip
QUESTIONS |= {
    f"epsilon/{name}/{delta:g}": lambda make=make, delta=delta: epsilon_at(make("add-remove").privacy("add-remove"), delta)
    for name, make in GUARANTEES.items()
    for delta in (0.0, 1e-5)
}  # fmt: skip
QUESTIONS |= {
    f"notion/{name}/{title}": lambda notion=notion, make=make: notion(make())
    for title, make in {
        "pure": lambda: dr.PureDP(0.1, _RO),
        "gdp": lambda: dr.GDP(0.1, _RO),
        "gdp-add-remove": lambda: dr.GDP(0.1, _AR),
        "dpsgd": lambda: dr.DPSGD(20.0, 1.0, 10),
    }.items()
    for name, notion in {
        "singling-out": lambda what: notions.singling_out(what, 2e-4),
        "predicate": lambda what: notions.predicate_singling_out(what, 1e-4, 2000),
        "isolation": lambda what: notions.isolation_success(what, 1e-4, 2000),
        "classic": lambda what: notions.classic_singling_out(what, 1e-6, 1000, delta=1e-5),
        "narcissus": lambda what: notions.narcissus(what, 0.1, 100),
        "memorisation": notions.memorisation,
        "cross-influence": notions.cross_influence,
        "generalisation": lambda what: notions.generalisation(what, 0.2),
        "posterior-odds": lambda what: notions.posterior_odds(what, 0.01, prior=0.1),
    }.items()
}
QUESTIONS |= {
    "notion/normalised-gain": lambda: notions.normalised_gain(0.75, 0.5),
    "notion/remaining-error": lambda: notions.remaining_error(0.75, 0.5),
    "notion/isolation-baseline": lambda: notions.isolation_baseline(1e-6, 10**6),
    "calibrate/grr/rad": lambda: calibrate(dr.GRR, dr.Limit(stranger(100), rad=0.1), m=100),
    "calibrate/grr/several": lambda: calibrate(dr.GRR, [dr.Limit(skewed(), rad=0.1), dr.Limit(dr.Threat.baseline(0.1), gain=0.2)], m=6),
    "calibrate/grr/success": lambda: calibrate(dr.GRR, dr.Limit(skewed(), success=0.6), m=6),
    "calibrate/grr/below-the-blind-guess": lambda: calibrate(dr.GRR, dr.Limit(skewed(), success=0.3), m=6),
    "calibrate/grr/free": lambda: calibrate(dr.GRR, dr.Limit(skewed(), rad=0.999), m=6),
    "calibrate/grr/frequency-error": lambda: calibrate(dr.GRR, dr.Limit(frequency_error=0.5), m=6),
    "calibrate/oue/rad": lambda: calibrate(dr.OUE, dr.Limit(stranger(20), rad=0.1), m=20),
    "calibrate/laplace/rad": lambda: calibrate(dr.Laplace, dr.Limit(stranger(10), rad=0.1)),
    "calibrate/laplace/epsilon": lambda: calibrate(dr.Laplace, dr.Limit(epsilon=1.0, delta=0.0, neighbours=_RO), query=[0, 1]),
    "calibrate/laplace/error": lambda: calibrate(dr.Laplace, dr.Limit(error=10.0)),
    "calibrate/gaussian/worst-gain": lambda: calibrate(dr.Gaussian, dr.Limit(worst_gain=0.1), query=[0, 1]),
    "calibrate/gaussian/tpr": lambda: calibrate(dr.Gaussian, dr.Limit(tpr=0.05, fpr=0.01, neighbours=_RO), query=[0, 1]),
    "calibrate/gaussian/epsilon": lambda: calibrate(dr.Gaussian, dr.Limit(epsilon=1.0, delta=1e-5, neighbours=_RO), query=[0, 1]),
    "calibrate/gaussian/within": lambda: calibrate(dr.Gaussian, dr.Limit(line(10, 1.0), rad=0.2)),
    "calibrate/geometric/rad": lambda: calibrate(dr.Geometric, dr.Limit(stranger(10), rad=0.1)),
    "calibrate/repeated-gaussian": lambda: calibrate(lambda sigma: dr.Repeated(dr.Gaussian(sigma), 40), dr.Limit(stranger(10), rad=0.1)),
    "calibrate/dpsgd/tpr": lambda: calibrate(dr.DPSGD, dr.Limit(tpr=0.05, fpr=0.01, neighbours=_AR), sample_rate=0.01, steps=100),
    "calibrate/dpsgd/worst-gain": lambda: calibrate(dr.DPSGD, dr.Limit(worst_gain=0.1, neighbours=_AR), sample_rate=0.01, steps=100),
    "calibrate/pure/rad": lambda: calibrate(dr.PureDP, dr.Limit(stranger(10), rad=0.1), neighbours=_RO),
    "calibrate/gdp/gain": lambda: calibrate(dr.GDP, dr.Limit(dr.Threat.baseline(0.1), gain=0.1), neighbours=_AR),
    "attack/strategy-report": lambda: attack(dr.GRR(m=6, epsilon=1.0), skewed(), strategy="report"),
    "attack/strategy-prior": lambda: attack(dr.GRR(m=6, epsilon=1.0), skewed(), strategy="prior"),
    "attack/maximise-success": lambda: attack(dr.OUE(m=6, epsilon=1.0), skewed(), maximise="success"),
    "attack/known": lambda: attack(dr.Laplace(2.0), everything(6)),
    "attack/within": lambda: attack(dr.Gaussian(2.0), line(6, 1.0)),
    "attack/confidence": lambda: attack(dr.GRR(m=6, epsilon=1.0), skewed(), confidence=0.999),
    "measure/labels": lambda: dr.measure(["a", "b", "c", "a"] * 50, ["a", "c", "c", "c"] * 50, truth=["a", "b", "c", "b"] * 50),
    "measure/paired": lambda: dr.measure(["a", "b", "c", "a"] * 50, ["a", "c", "c", "c"] * 50, truth=["a", "b", "c", "b"] * 50, paired=True),
    "measure/within": lambda: dr.measure([1.0, 2.0, 3.5] * 40, [0.0, 2.5, 5.0] * 40, truth=[1.0, 2.4, 3.0] * 40, within=0.5),
    "audit/half-noise": lambda: _audit(_half, 1.0),
    "audit/kept": lambda: _audit(_half, 2.5),
    "audit/mechanism": lambda: _audit(dr.GRR(m=5, epsilon=2.0).at(None).sample, 1.0, 5),
    "audit/protocol": lambda: _audit(dr.OUE(m=5, epsilon=2.0).at(None).sample, 1.0, 5, protocol=dr.OUE(m=5, epsilon=1.0)),
    "audit/delta": lambda: _audit(_half, 1.0, claim=dr.ApproxDP(1.0, 1e-3, neighbours=_RO)),
    "audit/gdp": lambda: _audit(lambda x, rng: x + rng.normal(0.0, 0.5, len(x)), 1.0, claim=dr.GDP(1.0, neighbours=_RO)),
    "audit/zcdp": lambda: _audit(lambda x, rng: x + rng.normal(0.0, 0.5, len(x)), 1.0, claim=dr.ZCDP(0.5, neighbours=_RO)),
    "audit/sequential": lambda: _audit(_half, 1.0, sequential=True, looks=10, trials=20_000),
    "audit/rad": lambda: _audit(dr.GRR(m=5, epsilon=2.0).at(None).sample, 1.0, 5, threat=stranger(5)),
    "audit/log": lambda: dr.audit(_samples(), claim=dr.PureDP(1.0, neighbours=_RO), seed=1),
    "audit/canaries": lambda: _canaries("models"),
    "audit/canaries-one-run": lambda: _canaries("one-run"),
    "learning/gradients": _gradients,
    "learning/risk-known": lambda: candidate_risk(np.eye(8), everything(8), clip=1.0, noise_multiplier=0.5, draws=5_000),
    "learning/risk": lambda: candidate_risk(_PAIRWISE, stranger(3), clip=1.0, noise_multiplier=1.0, draws=5_000),
    "learning/risk-sampled": lambda: candidate_risk(_PAIRWISE, stranger(3), clip=1.0, noise_multiplier=1.0, sample_rate=0.2, draws=5_000),
    "learning/candidates": lambda: assess(candidate_mechanism(8.0 * (1.0 - np.eye(8))), everything(8)),
    "account/parallel-common": lambda: gr.account(_parallel("common")),
    "account/parallel-own": lambda: gr.account(_parallel("own")),
    "account/gaussian": lambda: gr.account(_gaussian_steps()),
    "account/guarantee": lambda: assess(gr.guarantee(gr.account(_gaussian_steps()), "unbounded", reading="gaussian"), stranger(10)),
    "account/mechanism": lambda: gr.account(gr.Pipeline(steps=[gr.Step(name="mean", mechanism=dr.Gaussian(sigma=2.0, sensitivity=1.0), granularity="bounded")])),
    "advise/event": lambda: gr.advise(_STREAM, granularity="event", epsilon=0.1, hidden="values", window=5),
    "advise/user": lambda: gr.advise(_STREAM, granularity="user:replace-one", epsilon=1.0),
    "lint/present-rows": lambda: gr.lint(_noisy()),
    "lint/parallel": lambda: gr.lint(_parallel("own")),
    "lint/sampler": lambda: gr.lint_sampler(_half, claim=dr.PureDP(1.0, neighbours=_RO), domain=2, trials=4_000, seed=1),
    "lint/own-laplace": lambda: gr.lint_sampler(dr.Laplace(1.0, query=[0, 1]).at(None).sample, claim=dr.PureDP(1.0, neighbours=_RO), domain=2, trials=4_000, seed=1),
    "correlate/groups": lambda: co.leakage(co.Groups(size=3), 1.0),
    "correlate/gaussian-groups": lambda: co.leakage(co.GaussianGroups([[225.0, 100.0], [100.0, 225.0]]), 1.0, clip=(0.0, 254.0)),
    "correlate/chain": lambda: co.leakage(co.Chain(_CHAIN, 288), 1.0),
    "correlate/chain-long": lambda: co.leakage(co.Chain(_CHAIN, 17_568), 1.0, target=2.0),
    "correlate/joint": lambda: co.leakage(co.Joint([[0.45, 0.05], [0.05, 0.45]]), 1.0),
    "correlate/fit": _fit,
    "correlate/fitted": lambda: co.leakage(_fit(), 1.0),
    "correlate/calibrate": lambda: co.calibrate(co.Groups(size=3), 1.0),
    "correlate/calibrate-chain": lambda: co.calibrate(co.Chain(_CHAIN, 100), 1.0),
    "correlate/assess": lambda: co.assess(co.Joint([[0.45, 0.05], [0.05, 0.45]]), target=0, epsilon=1.0),
    "correlate/assess-known": lambda: co.assess(co.Joint([[0.45, 0.05], [0.05, 0.45]]), target=0, epsilon=1.0, known={1: 0}),
    "frequencies/grr": lambda: _frequencies(dr.GRR(m=4, epsilon=2.0)),
    "frequencies/oue": lambda: _frequencies(dr.OUE(m=4, epsilon=2.0)),
    "frequencies/olh": lambda: _frequencies(dr.OLH(m=4, epsilon=2.0)),
    "frequencies/hadamard": lambda: _frequencies(dr.HadamardResponse(m=4, epsilon=2.0)),
    "load/assessment": lambda: _reloaded(_assessment()),
    "load/attack": lambda: _reloaded(attack(dr.GRR(m=6, epsilon=1.0), skewed())),
    "load/audit": lambda: _reloaded(_audit(_half, 1.0)),
    "load/calibration": lambda: _reloaded(dr.calibrate(dr.GRR, dr.Limit(stranger(10), rad=0.1), m=10)),
    "load/accounting": lambda: _reloaded(gr.account(_parallel("common"))),
    "load/advice": lambda: _reloaded(gr.advise(_STREAM, granularity="event", epsilon=0.1)),
    "load/correlation": lambda: _reloaded(co.leakage(co.Groups(size=3), 1.0)),
    "load/lint": lambda: _reloaded(gr.lint(_noisy())),
    "load/run": lambda: _reloaded(dr.spec.run(dr.spec.read(FILES / "kept.toml"))),
    "load/rad-negative": lambda: _reloaded(_assessment(), rad__value=-5.0),
    "load/rad-7": lambda: _reloaded(_assessment(), rad__value=7.0),
    "load/low-above-high": lambda: _reloaded(_assessment(), rad__low=0.9),
    "load/no-schema": lambda: _reloaded(_assessment(), schema="something/else"),
    "load/not-refuted": lambda: _reloaded(_audit(_half, 1.0), refuted=False, epsilon_lower=4.9),
    "load/attack-high-below-low": lambda: _reloaded(attack(dr.GRR(m=6, epsilon=1.0), skewed()), rad__low=0.9, rad__high=0.1),
    "adapter/dp-accounting": lambda: assess(_event(), dr.Threat.baseline(0.1)),
    "adapter/dp-accounting-membership": lambda: assess(_event(), dr.Threat.membership(0.5)),
    "adapter/opacus": lambda: assess(dr.from_opacus([(1.1, 0.01, 50)]), dr.Threat.membership(0.5)),
}  # fmt: skip


def _event() -> Any:
    import dp_accounting as dp

    steps = dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.1)), 50)
    return dr.from_dp_accounting(dp.ComposedDpEvent([steps, dp.GaussianDpEvent(8.0)]), _AR)
