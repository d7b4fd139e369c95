"""Attacks on models that were trained with the target and with someone else: ReRo and RAD with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from ...attacks.attack_runs import checked_seed
from ...attacks.measure import measure
from ...errors import ParameterError
from ...numerics.lazy_numpy import Array, np
from ...params import Param
from .attribute_attacker import check_classes, concatenate_targets
from .attribute_attacks import IMPUTED, LOSS, MODEL, AttributeAttack, as_attack
from .columns import kinds
from .overlap import coincidences

if TYPE_CHECKING:
    from ...results.attack import AttackRun
    from .attribute_attacker import AttributeAttacker, Targets

__all__ = ["Design", "attack_model", "model_risk"]

Design = Literal["same-model", "same-target"]
Progress = Callable[[int, int], None]
_NOTES = {
    "same-model": "second term of rad: the same models, asked about people who are not in their training data",
    "same-target": "second term of rad: the same people, asked of models trained with someone else in their place",
}
_MODELS = Param(name="models", integer=True, low=1, what="the number of models for each target", typical=(1, 10))


def attack_model(
    attacks: str | AttributeAttack | Iterable[str | AttributeAttack],
    attacker: AttributeAttacker,
    models_with: Iterable[Any],
    targets: Any,
    others: Any,
    *,
    models_without: Iterable[Any] | None = None,
    confidence: float = 0.95,
) -> dict[str, AttackRun]:
    """Attack trained models and return, by name of the attack, success (ReRo) and what of it taking part adds (RAD).

    ``models_with[i]`` was trained with ``targets[i]``, or is a list of models that were. ``others[i]`` is someone
    else, drawn in the same way. The second term of RAD, success about a person who is *not* in the training data, is
    taken in one of two ways:

    - ``models_without`` left out (design "same-model"): the same model is attacked about ``others[i]``, whom it has
      never seen. No second training is needed.
    - ``models_without[i]`` was trained with ``others[i]`` in place of ``targets[i]`` (design "same-target"): it is
      attacked about ``targets[i]``. Twice the training, but both terms are about the same person, so that how easy the
      person is to guess cancels: better where two models seldom disagree about a person.

    Both have the same expectation, that of [RAD] Definition 4.1: someone's record is in the data, and an independent
    person is asked about.

    Guarantee
    ---------
    Each interval of a result holds its number with probability ``confidence``, for every number of targets.

    Assumes
    -------
    The pairs (target, other) are independent draws from the population, none of them among the training records that
    all models share or among the attacker's, and each training has its own randomness. Several models of one target are
    not independent: their results are averaged, and the target counts once (a wider interval than one model for each of
    as many targets). Where more targets or others equal one of the attacker's records than chance explains
    (probability 1e-6), this raises; fewer are said in the notes.

    Notes
    -----
    An attack that does not look at the model, such as imputation, has rad 0 however often it is right. Results are
    those of these attacks: the best attacker may do better, and :func:`dpradar.assess` says how much at most.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from dpradar.learning.models import AttributeAttacker
    >>> rng = np.random.default_rng(1)
    >>> def people(n):
    ...     return {"age": rng.normal(size=n), "ill": rng.integers(0, 2, n), "paid": rng.integers(0, 2, n)}
    >>> known, targets, others = people(50), people(100), people(100)
    >>> attacker = AttributeAttacker.of(known, sensitive="ill", label="paid", imputer=None)
    >>> x, y = attacker.features(known), known["paid"]
    >>> def remembers(i):
    ...     whole = np.vstack([x, attacker.features(targets)[i]]), np.append(y, targets["paid"][i])
    ...     return KNeighborsClassifier(1).fit(*whole)
    >>> run = attack_model("csmia", attacker, map(remembers, range(100)), targets, others)["csmia"]
    >>> 0.6 < run.success.estimate < 0.9, run.rad.estimate > 0.1
    (True, True)
    """
    attack_list = _named_attacks(attacks)
    people, notes = _pairs(attacker, targets, others, impute=any(IMPUTED in one.needs for one in attack_list))
    inside: dict[str, list[bool]] = {one.name: [] for one in attack_list}
    outside: dict[str, list[bool]] = {one.name: [] for one in attack_list}
    n, numbers = people.size // 2, []
    for i, models, replaced in _group_by_target(models_with, models_without, n):
        numbers += [i] * len(models)
        for k, model in enumerate(models):
            first = _hits(attack_list, attacker, model, people, [i] if replaced else [i, n + i])
            # Same target: asked of another model. Same model: asked about another person, in the same calls.
            second = _hits(attack_list, attacker, replaced[k], people, [i]) if replaced else first
            for name, hits in first.items():
                inside[name].append(hits[0])
                outside[name].append(second[name][-1])
    options = {"paired": True, "targets": numbers if len(numbers) > n else None, "confidence": confidence}
    note = _NOTES["same-model" if models_without is None else "same-target"]
    runs = {a: measure(np.array(inside[a]), np.array(outside[a]), name=a, **options) for a in inside}  # type: ignore[arg-type]
    return {name: replace(run, notes=(*run.notes, note, *notes)) for name, run in runs.items()}


def _hits(
    attacks: Sequence[AttributeAttack], attacker: AttributeAttacker, model: Any, people: Targets, rows: list[int]
) -> dict[str, list[bool]]:
    """Return, for each attack, about whom of these rows of the people it is right."""
    needs = frozenset[str]().union(*(one.needs for one in attacks))
    if needs & {MODEL, LOSS}:
        check_classes(model, people.labels)  # of all: this one's label may be missing from the training data
    some = people.take(rows)
    view = attacker.view(model, some, needs)
    return {one.name: (one.guess(view, some.size) == some.truth).tolist() for one in attacks}


def _group_by_target(
    models_with: Iterable[Any], models_without: Iterable[Any] | None, n: int
) -> Iterator[tuple[int, list[Any], list[Any]]]:
    """Return the number of each target, its models, and those without it; one target after the other."""
    count, without = 0, iter(() if models_without is None else models_without)
    for one_or_several in models_with:
        if count == n:
            raise ParameterError("models_with", f"{n} entries, one for each target", "more")
        models = _as_list(one_or_several)
        replaced = [] if models_without is None else _as_list(next(without, ()))
        if not models or (models_without is not None and len(replaced) != len(models)):
            allowed = "one model or more for each target, and as many without it"
            raise ParameterError("models_with", allowed, f"{len(models)} and {len(replaced)} for target {count}")
        yield count, models, replaced
        count += 1
    if count < n:
        raise ParameterError("models_with", f"{n} entries, one for each target", f"{count}")


def model_risk(  # noqa: PLR0913 (keywords that stand for themselves)
    attacks: str | AttributeAttack | Iterable[str | AttributeAttack],
    attacker: AttributeAttacker,
    make: Any,
    known: Any,
    targets: Any,
    others: Any,
    *,
    models: int = 1,
    design: Design = "same-model",
    confidence: float = 0.95,
    seed: int | None = None,
    progress: Progress | None = None,
) -> dict[str, AttackRun]:
    """Train models with each target among the ``known`` records and attack them: :func:`attack_model` with training.

    ``make(seed)`` returns a classifier that is not fitted yet (scikit-learn's, diffprivlib's, anything with ``fit``,
    ``predict_proba`` and ``classes_``); or give a :class:`NetworkClassifier`. ``models`` are trained with each target,
    and as many with the other person for the design "same-target". More targets with one model each are worth more
    than several models of fewer targets.

    Guarantee
    ---------
    As for :func:`attack_model`. The same seed gives the same result.

    Assumes
    -------
    ``known`` are the records that all models share; targets and others are independent draws, and not among them:
    checked as in :func:`attack_model`, before any training.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from dpradar.learning.models import AttributeAttacker
    >>> rng = np.random.default_rng(1)
    >>> def people(n):
    ...     ill = rng.random(n) < 0.2
    ...     return {"age": rng.normal(size=n) + ill, "ill": ill, "paid": rng.random(n) < 0.3 + 0.4 * ill}
    >>> known, targets, others = people(200), people(100), people(100)
    >>> attacker = AttributeAttacker.of(known, sensitive="ill", label="paid")
    >>> runs = model_risk(["yeom"], attacker, lambda _: LogisticRegression(), known, targets, others, seed=1)
    >>> runs["yeom"].success.estimate > 0.7, runs["yeom"].rad.low < 0.0 < runs["yeom"].rad.high
    (True, True)
    """
    if design not in _NOTES:
        raise ParameterError("model_risk.design", " or ".join(_NOTES), repr(design))
    count = int(_MODELS.check("model_risk", models))
    root_seed = checked_seed("model_risk", seed)
    shared = attacker.targets(known, impute=False)
    people, other = attacker.targets(targets, impute=False), attacker.targets(others, impute=False)
    _check_sizes(people, other)
    _check_labels(shared, people, other)
    notes = coincidences(people, other, shared, "the known records")
    trainer = _Trainer(attacker, make, shared, count)
    seeds = np.random.SeedSequence(root_seed).spawn(2)
    runs = attack_model(
        attacks,
        attacker,
        trainer.each(people, seeds[0], progress),
        targets,
        others,
        models_without=trainer.each(other, seeds[1], None) if design == "same-target" else None,
        confidence=confidence,
    )
    return {
        a: replace(run, seed=root_seed, notes=tuple(dict.fromkeys([*run.notes, *notes]))) for a, run in runs.items()
    }


def _check_labels(shared: Targets, *people: Targets) -> None:
    """Raise where labels are words in one table and numbers in another: trained together they would all be words."""
    if any(kinds(some.labels.tolist()) != kinds(shared.labels.tolist()) for some in people):
        hint = "'1' is never equal to 1: convert one of them."
        raise ParameterError("labels of the targets", "of the kind of the known ones", "another kind", hint)


@dataclass(frozen=True, slots=True)
class _Trainer:
    """Trains models one after the other, so that no more than those of one target are kept."""

    attacker: AttributeAttacker
    make: Any
    shared: Targets
    count: int

    def each(self, targets: Targets, seeds: np.random.SeedSequence, progress: Progress | None) -> Iterator[list[Any]]:
        x, y = self.attacker.features(self.shared), self.shared.labels
        rows, labels = self.attacker.features(targets), targets.labels
        repeated = np.repeat(np.arange(targets.size), self.count)
        train = self.make.models if hasattr(self.make, "models") else self._one_by_one
        trained = train(x, y, rows[repeated], labels[repeated], seeds.generate_state(repeated.size).tolist())
        for i in range(targets.size):
            yield list(islice(trained, self.count))
            if progress is not None:
                progress(i + 1, targets.size)

    def _one_by_one(self, known_x: Array, known_y: Array, x: Array, y: Array, seeds: Sequence[int]) -> Iterator[Any]:
        if not callable(self.make):
            hint = "Such as lambda seed: LogisticRegression(random_state=seed)."
            raise ParameterError("model_risk.make", "a function of a seed, or a NetworkClassifier", "neither", hint)
        for row, label, seed in zip(x, y, seeds, strict=True):
            model = self.make(seed)
            yield model.fit(np.vstack([known_x, row[None]]), np.append(known_y, [label]))


def _named_attacks(attacks: Any) -> list[AttributeAttack]:
    items = [attacks] if isinstance(attacks, (str, AttributeAttack)) else list(attacks)
    attack_list = [as_attack(item) for item in items]
    if not attack_list or len({item.name for item in attack_list}) < len(attack_list):
        raise ParameterError("attacks", "one attack or more, with different names", f"{len(attack_list)}")
    return attack_list


def _pairs(attacker: AttributeAttacker, targets: Any, others: Any, *, impute: bool) -> tuple[Targets, tuple[str, ...]]:
    """Return the targets and behind them, in the same order, the others; and notes on coincidences."""
    people, other = attacker.targets(targets, impute=impute), attacker.targets(others, impute=impute)
    _check_sizes(people, other)
    return concatenate_targets(people, other), coincidences(people, other, attacker.auxiliary, "the attacker's records")


def _check_sizes(targets: Targets, other: Targets) -> None:
    if other.size != targets.size:
        hint = "Entry i is a person drawn independently of target i."
        raise ParameterError("others", f"{targets.size} records, one for each target", f"{other.size}", hint)


def _as_list(models: Any) -> list[Any]:
    return list(models) if isinstance(models, (list, tuple)) else [models]
