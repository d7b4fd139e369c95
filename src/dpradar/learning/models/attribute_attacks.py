"""Four published attacks on a model, as rules that choose a value of the sensitive column.

The target is a record (x, s) with label y. The attacker knows x and y, tries every value s and looks at what the model
says about (x, s).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...errors import ParameterError
from ...numerics.lazy_numpy import Floats, Ints, np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["ATTACKS", "AttributeAttack", "View", "as_attack", "csmia", "imputation", "wcai", "yeom", "yeom_membership"]

MODEL, IMPUTED, LOSS = "the model's scores", "imputed probabilities", "the mean loss in training"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """All that an attack may look at, for n targets, k values of the sensitive column and c classes of the model.

    ``prior`` (k): how frequent each value is. ``scores`` (n, k, c): the model's output for the target with each
    value put in. ``labels`` (n): the number of the target's true class, -1 for a class that the model does not know.
    ``imputed`` (n, k): the probability of each value given what is known of the target, without the model.
    ``mean_loss``: the model's mean loss on its training data. What an attack does not need may be left out.

    Examples
    --------
    >>> view = View(prior=[0.6, 0.4], scores=[[[0.9, 0.1], [0.2, 0.8]]], labels=[1])
    >>> view.label_scores.tolist()
    [[0.1, 0.8]]
    """

    prior: Any
    scores: Any = None
    labels: Any = None
    imputed: Any = None
    mean_loss: float | None = None

    def __post_init__(self) -> None:
        for name, dimensions in (("prior", 1), ("scores", 3), ("imputed", 2)):
            part = getattr(self, name)
            if part is None:
                continue
            array = np.asarray(part, dtype=float)
            if array.ndim != dimensions or not np.all(np.isfinite(array)) or np.any(array < 0.0):
                allowed = f"numbers that are not negative, in {dimensions} dimensions"
                raise ParameterError(f"View.{name}", allowed, f"shape {array.shape}")
            object.__setattr__(self, name, array)
        values, where = self.prior.size, {"scores": self.scores, "imputed": self.imputed}
        for name, array in where.items():
            if array is not None and array.shape[1] != values:
                allowed = f"for the {values} values of the prior"
                raise ParameterError(f"View.{name}", allowed, f"shape {array.shape}")
        if self.scores is not None:
            object.__setattr__(self, "labels", _labels(self.labels, self.scores))

    @property
    def label_scores(self) -> Floats:
        """The score of the true label with each value put in: (n, k)."""
        scores, labels = self.need(MODEL), self.labels
        at_label = np.take_along_axis(scores, np.maximum(labels, 0)[:, None, None], axis=2)[:, :, 0]
        return np.where(labels[:, None] < 0, 0.0, at_label)

    def need(self, part_name: str) -> Floats:
        """Return a part of the view, or raise where it was left out."""
        part = {MODEL: self.scores, IMPUTED: self.imputed, LOSS: self.mean_loss}[part_name]
        if part is None:
            raise ParameterError("View", f"given with {part_name}", "a view without", "This attack looks at it.")
        return np.asarray(part)


def _labels(values: Any, scores: Floats) -> Ints:
    labels = np.asarray([] if values is None else values)
    ok = labels.shape == scores.shape[:1] and np.issubdtype(labels.dtype, np.integer)
    if not ok or np.any(labels < -1) or np.any(labels >= scores.shape[2]):
        allowed = f"{scores.shape[0]} whole numbers from -1 to {scores.shape[2] - 1}, the true classes of the targets"
        raise ParameterError("View.labels", allowed, f"shape {labels.shape}")
    return labels.astype(np.intp)


def _best(first: Floats, *others: Floats) -> Ints:
    """Return for each target the value with the largest key: of equal ones that with the largest next key, and so on.

    Ties that remain are drawn, with the same numbers in every call: never decided by the order of the values, which is
    that of their names.
    """
    tied = first == first.max(axis=1, keepdims=True)
    for key in others:
        among = np.where(tied, np.broadcast_to(key, tied.shape), -np.inf)
        tied = among == among.max(axis=1, keepdims=True)
    tie_break = np.random.default_rng(0).random(tied.shape[0])
    rank = np.floor(tie_break * tied.sum(axis=1))
    return np.asarray((tied & (np.cumsum(tied, axis=1) == rank[:, None] + 1)).argmax(axis=1))


def imputation(view: View) -> Ints:
    """Return the most probable value given what is known of the target; the model is not looked at.

    Notes
    -----
    [SauerThesis] Attack 6; Jayaraman and Evans (2022). Its rad is 0, however often it is right.

    Examples
    --------
    >>> imputation(View(prior=[0.6, 0.4], imputed=[[0.9, 0.1], [0.3, 0.7]])).tolist()
    [0, 1]
    """
    return _best(view.need(IMPUTED), view.prior)


def yeom(view: View) -> Ints:
    """Return the value with the largest frequency times score of the true label.

    Notes
    -----
    [SauerThesis] Attack 7; Yeom et al. (2018). The score is that of the true label y (the thesis' text says "of s").
    Of equal products the more frequent value wins.

    Examples
    --------
    >>> yeom(View(prior=[0.6, 0.4], scores=[[[0.5, 0.5], [0.1, 0.9]]], labels=[1])).tolist()
    [1]
    """
    return _best(view.prior * view.label_scores, view.prior)


def yeom_membership(view: View) -> Ints:
    """Return the most frequent of the values with which the record looks like a member of the training data.

    It looks like a member when its loss is at most the mean loss in training; when it does so with no value, the most
    frequent value of all is returned.

    Notes
    -----
    Yeom et al. (2018), as published with Jayaraman and Evans (2022): the membership bit times the frequency.

    Examples
    --------
    >>> scores = [[[0.5, 0.5], [0.1, 0.9]], [[0.9, 0.1], [0.9, 0.1]]]
    >>> yeom_membership(View(prior=[0.6, 0.4], scores=scores, labels=[1, 1], mean_loss=0.3)).tolist()
    [1, 0]
    """
    member = view.label_scores >= np.exp(-view.need(LOSS))
    # Where the record looks like no member, all products are 0: the frequencies decide.
    return _best(view.prior * member, view.prior)


def csmia(view: View) -> Ints:
    """Return the value with which the model predicts the true label, most confidently if there are several.

    When it predicts the true label with no value, the value with which it is least confident is returned. Of equally
    confident ones the more probable value wins: by what is known of the target where that is given, else by frequency.

    Notes
    -----
    [SauerThesis] Attack 8; Mehnaz et al. (2022), confidence-score-based model inversion.

    Examples
    --------
    >>> scores = [[[0.7, 0.3], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]], [[0.9, 0.1], [0.6, 0.4]]]
    >>> csmia(View(prior=[0.6, 0.4], scores=scores, labels=[1, 1, 1])).tolist()
    [1, 1, 1]
    """
    scores = view.need(MODEL)
    confidence = scores.max(axis=2)
    right = scores.argmax(axis=2) == view.labels[:, None]
    # With no right value all first keys are -1 and the second decides.
    among_right = np.where(right, confidence, -1.0)
    unsure = np.where(right.any(axis=1, keepdims=True), 0.0, -confidence)
    probable = (view.prior,) if view.imputed is None else (view.imputed, view.prior)
    return _best(among_right, unsure, *probable)


def wcai(view: View) -> Ints:
    """Return the value with the largest imputed probability times score of the true label.

    Notes
    -----
    [SauerThesis] Attack 9, weighted confidence attribute inference: :func:`yeom` with what is known of the target in
    place of the frequencies.

    Examples
    --------
    >>> scores = [[[0.5, 0.5], [0.1, 0.9]]]
    >>> wcai(View(prior=[0.6, 0.4], scores=scores, labels=[1], imputed=[[0.8, 0.2]])).tolist()
    [0]
    """
    return _best(view.need(IMPUTED) * view.label_scores, view.need(IMPUTED), view.prior)


@dataclass(frozen=True, slots=True)
class AttributeAttack:
    """A rule that chooses a value for each target, and which parts of a :class:`View` it looks at.

    Examples
    --------
    >>> always_first = AttributeAttack("always the first", lambda view: np.zeros(view.scores.shape[0], dtype=int))
    >>> always_first.needs == frozenset({"the model's scores"})
    True
    """

    name: str
    choose: Callable[[View], Any]
    needs: frozenset[str] = frozenset({MODEL})

    def guess(self, view: View, count: int) -> Ints:
        """Return the numbers of the values guessed for ``count`` targets."""
        guesses = np.asarray(self.choose(view))
        whole = guesses.shape == (count,) and np.issubdtype(guesses.dtype, np.integer)
        if not whole or np.any(guesses < 0) or np.any(guesses >= view.prior.size):
            allowed = f"{count} whole numbers from 0 to {view.prior.size - 1}, one value for each target"
            raise ParameterError(f"the guesses of {self.name}", allowed, f"shape {guesses.shape}, {guesses.dtype}")
        return guesses.astype(np.intp)


ATTACKS: Mapping[str, AttributeAttack] = MappingProxyType(
    {
        "imputation": AttributeAttack("imputation", imputation, frozenset({IMPUTED})),
        "yeom": AttributeAttack("yeom", yeom),
        "yeom-membership": AttributeAttack("yeom-membership", yeom_membership, frozenset({MODEL, LOSS})),
        "csmia": AttributeAttack("csmia", csmia),
        "wcai": AttributeAttack("wcai", wcai, frozenset({MODEL, IMPUTED})),
    }
)


def as_attack(attack: object) -> AttributeAttack:
    """Return an attack that was given by name or as it is."""
    if isinstance(attack, AttributeAttack):
        return attack
    listed = ATTACKS.get(attack) if isinstance(attack, str) else None
    if listed is None:
        raise ParameterError("attack", f"one of {', '.join(ATTACKS)}, or an AttributeAttack", repr(attack))
    return listed
