"""Audit an unknown mechanism: half of the outputs choose two inputs and an event, the others test it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..attacks.work_units import WorkUnits
from ..errors import ParameterError
from ..numerics.lazy_numpy import Array, np
from ..results.audit import AuditResult, Witness
from .audit_plan import audit_result, evaluate_test
from .epsilon_limits import AuditedClaim, Tally
from .event_search import Event, best_event, best_pairs, encoder_for
from .output_sources import Batch

if TYPE_CHECKING:
    from .audit_plan import AuditPlan
    from .category_encoding import Encoder
    from .output_sources import OutputSource
    from .samples import Samples

__all__ = ["log_audit", "search_audit"]

_MOST_INPUTS = 48  # inputs compared with each other; of a larger domain a random part is looked at
_TOP = 3  # pairs that are looked at closely
_BYTES = 200_000_000  # of outputs kept for the search
_MOST_SEARCHED = 400_000  # outputs; more would find the same event
_FEWEST = 60  # outputs per input below which a pair cannot be judged


def search_audit(source: OutputSource, claim: AuditedClaim, plan: AuditPlan) -> AuditResult:
    """Return the audit of a sampler as a black box."""
    rng = np.random.default_rng(plan.root.spawn(1)[0])
    pool, pairs = _candidates(source, plan, rng)
    # A sequential audit wants to stop early, so it spends less on the search.
    share = 0.2 if plan.sequential else 0.5
    budget = min(max(4 * _FEWEST, int(plan.trials * share)), plan.trials // 2, _MOST_SEARCHED)
    try:
        event, search_trials = _search_event(source, claim, plan, pool, pairs, budget, rng)
    except KeyboardInterrupt:
        return _untested_result(claim, plan)
    total = max(2, plan.trials - search_trials)
    sides = np.array([event.first, event.other])

    def work(count: int, rng: np.random.Generator) -> Tally:
        inputs = sides[rng.permutation(np.arange(count) % 2)]
        outputs = source.batch(inputs, rng).array
        first = inputs == event.first
        n_first = int(np.count_nonzero(first))
        return Tally(event.count(outputs[first]), n_first, event.count(outputs[~first]), count - n_first)

    size = plan.size(source.batch(np.resize(sides, 16), rng).array, total)
    units = WorkUnits(work, total, size, plan.root, stage=1)
    tally, verdict, test_trials, notes = evaluate_test(units.run(plan.workers), claim, plan, total)
    if len(pool) < len(source.names):
        notes = (*notes, f"searched {len(pool)} of {len(source.names):,} inputs, chosen at random")
    method = "search for inputs and event, then test on new outputs"
    return audit_result(
        claim,
        verdict,
        tally,
        method=method,
        witness=_witness(source, event, tally),
        trials=search_trials + test_trials,
        notes=notes,
    )


def _untested_result(claim: AuditedClaim, plan: AuditPlan) -> AuditResult:
    return AuditResult(
        claim=claim.description,
        claim_epsilon=claim.epsilon,
        refuted=False,
        epsilon_lower=0.0,
        epsilon_estimate=None,
        delta=claim.delta,
        significance=plan.failure,
        method="search for inputs and event, then test on new outputs",
        trials=0,
        notes=("interrupted during the search: nothing was tested",),
    )


def _candidates(
    source: OutputSource, plan: AuditPlan, rng: np.random.Generator
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the inputs to look at and the ordered pairs to compare."""
    if source.pairs is not None:
        pairs = [pair for one, other in source.pairs for pair in ((one, other), (other, one))]
        return list(range(len(source.names))), pairs
    count = len(source.names)
    most = int(np.clip(plan.trials // (8 * _FEWEST), 2, _MOST_INPUTS))
    pool = list(range(count))
    if count > most:
        # The ends are often the extreme values, so they are always there.
        middle = rng.choice(np.arange(1, count - 1), size=most - 2, replace=False)
        pool = sorted([0, count - 1, *middle.tolist()])
    return pool, [(a, b) for a in pool for b in pool if a != b]


def _search_event(
    source: OutputSource,
    claim: AuditedClaim,
    plan: AuditPlan,
    pool: list[int],
    pairs: list[tuple[int, int]],
    budget: int,
    rng: np.random.Generator,
) -> tuple[Event, int]:
    probe = source.batch(np.resize(np.array(pool), 16), rng)
    each = max(1, probe.array.nbytes // 16)
    budget = min(budget, max(2_000, _BYTES // each))
    inputs = rng.permutation(np.resize(np.array(pool), budget // 2))
    batch = source.batch(inputs, rng)
    encoder = encoder_for(batch)
    candidates = best_pairs(encoder, batch, inputs, pairs, claim.delta, _TOP)
    draws = max(1, (plan.trials - budget) // 2)
    search_trials = 16 + inputs.size
    samples: list[tuple[tuple[int, int], Any]] = []
    for pair in candidates:
        sides = rng.permutation(np.resize(np.array(pair), budget // 2 // len(candidates)))
        closer = source.batch(sides, rng)
        search_trials += sides.size
        outputs = tuple(
            np.concatenate([_pad_columns(batch, closer)[inputs == side], closer.array[sides == side]]) for side in pair
        )
        samples.append((pair, outputs))
        if plan.progress is not None:
            plan.progress(search_trials, plan.trials)
    return _choose_event(encoder, samples, draws, claim, plan, source.known_names or None), search_trials


def _choose_event(
    encoder: Encoder,
    candidates: list[tuple[tuple[int, int], Any]],
    draws: int,
    claim: AuditedClaim,
    plan: AuditPlan,
    names: tuple[Any, ...] | None,
) -> Event:
    """Return the best event of the candidate pairs; classifiers, which take long, are tried on the best pair only."""

    def event(number: int, *, train: bool) -> Event:
        pair, outputs = candidates[number]
        return best_event(encoder, pair, outputs, draws, claim, plan.failure, names, train=train)

    simple = [event(k, train=False) for k in range(len(candidates))]
    top = max(range(len(simple)), key=lambda k: simple[k].promise)
    return max(simple[top], event(top, train=True), key=lambda one: one.promise)


def _pad_columns(batch: Batch, like: Batch) -> Array:
    """Return the outputs with as many columns as later ones: a subset may hold values that were not seen before."""
    array, missing = batch.array, like.array.ndim > 1 and like.array.shape[1] - batch.array.shape[1]
    return np.pad(array, ((0, 0), (0, missing))) if missing else array


def _witness(source: OutputSource, event: Event, tally: Tally) -> Witness:
    return Witness(
        first=source.names[event.first],
        other=source.names[event.other],
        event=event.text,
        seen_first=tally.seen_first,
        drawn_first=tally.drawn_first,
        seen_other=tally.seen_other,
        drawn_other=tally.drawn_other,
    )


def log_audit(source: OutputSource, log: Samples, claim: AuditedClaim, plan: AuditPlan) -> AuditResult:
    """Return the audit of logged pairs of inputs and outputs: a random half chooses, the other half tests."""
    if plan.sequential:
        raise ParameterError("audit.sequential", "False with a log", "True", "All of a log is there at once.")
    rng = np.random.default_rng(plan.root.spawn(1)[0])
    order = rng.permutation(log.size)
    first_half, second_half = np.split(order, [log.size // 2])
    codes = np.asarray(log.inputs)
    counts = np.bincount(codes[first_half], minlength=len(log.names))
    often = np.argsort(-counts, kind="stable")[:_MOST_INPUTS]
    pool = [int(k) for k in often if counts[k] >= _FEWEST]
    if len(pool) < 2:
        hint = f"It needs at least two inputs with {2 * _FEWEST} outputs each."
        raise ParameterError("audit", "given a larger log", f"{log.size} pairs", hint)
    batch = Batch(log.kind, log.outputs[first_half], None)
    encoder: Encoder = encoder_for(batch)
    pairs = [(a, b) for a in pool for b in pool if a != b]
    samples: list[tuple[tuple[int, int], Any]] = []
    for pair in best_pairs(encoder, batch, codes[first_half], pairs, claim.delta, _TOP):
        outputs = tuple(log.outputs[first_half[codes[first_half] == side]] for side in pair)
        samples.append((pair, outputs))
    draws = int(min((codes[second_half] == side).sum() for pair, _ in samples for side in pair))
    best = _choose_event(encoder, samples, draws, claim, plan, log.output_names)
    test_outputs = [log.outputs[second_half[codes[second_half] == side]] for side in (best.first, best.other)]

    def work(count: int, rng: np.random.Generator) -> Tally:
        event_counts = [best.count(outputs) if len(outputs) else 0 for outputs in test_outputs]
        return Tally(event_counts[0], len(test_outputs[0]), event_counts[1], len(test_outputs[1]))

    tally, verdict, _, notes = evaluate_test(WorkUnits(work, 1, 1, plan.root, stage=1).run(), claim, plan, 1)
    if len(pool) < len(log.names):
        notes = (*notes, f"compared {len(pool)} of {len(log.names):,} inputs, those with the most outputs")
    method = "search for inputs and event in half of the log, test on the other half"
    result = audit_result(
        claim,
        verdict,
        tally,
        method=method,
        witness=_witness(source, best, tally),
        trials=log.size,
        notes=notes,
    )
    return replace(result, asked=log.size)
