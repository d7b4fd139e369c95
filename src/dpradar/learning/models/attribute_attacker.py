"""What an attacker on a model has: other people's records, and from them an encoding, frequencies and a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Self

from ...errors import MissingExtra, ParameterError
from ...numerics.lazy_numpy import Array, Floats, Ints, np
from ...numerics.single_thread import one_thread
from ...params import shown
from .attribute_attacks import IMPUTED, LOSS, MODEL, View
from .columns import as_numbers, columns_of, kinds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["AttributeAttacker", "Targets", "check_classes", "concatenate_targets"]

_CATEGORIES = 20  # a column of numbers with at most this many different ones is taken as categories
_LOSS_RECORDS = 2_000  # on which the mean loss is taken
_SMALLEST = 1e-300  # a score below has the loss of this one: it stays a number


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Targets:
    """Encoded records: the known columns of each, its label, its true value, and what imputation says of it."""

    known_columns: Array  # (n, features)
    labels: Array  # (n,), as they are in the table
    truth: Ints  # (n,), number of the true value; -1 for one that the attacker has never seen
    imputed: Floats | None  # (n, values)

    @property
    def size(self) -> int:
        """The number of records."""
        return int(self.truth.size)

    def __repr__(self) -> str:
        return f"Targets({self.size} records)"  # and no record

    def take(self, rows: Any) -> Targets:
        """Return some of the records."""
        imputed = None if self.imputed is None else self.imputed[rows]
        return Targets(self.known_columns[rows], self.labels[rows], self.truth[rows], imputed)


def concatenate_targets(first: Targets, second: Targets) -> Targets:
    """Return the records of both, one after the other."""
    imputed = None
    if first.imputed is not None and second.imputed is not None:
        imputed = np.vstack([first.imputed, second.imputed])
    return Targets(
        np.vstack([first.known_columns, second.known_columns]),
        np.append(first.labels, second.labels),
        np.append(first.truth, second.truth),
        imputed,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AttributeAttacker:
    """Someone who knows every column of the target but one, and has records of other people.

    Built by :meth:`of`. ``values`` are the values of the sensitive column, ``prior`` their frequencies.

    Assumes
    -------
    The auxiliary records do not depend on the target: take the records that all models are trained on, or others. The
    encoding is made from them alone, so that it does not give the target away.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> job = rng.integers(0, 3, 300)
    >>> table = {"job": job, "ill": job == 2, "claim": rng.random(300) < 0.5}
    >>> attacker = AttributeAttacker.of(table, sensitive="ill", label="claim")
    >>> attacker.values.tolist(), attacker.features(table).shape
    ([False, True], (300, 5))
    """

    sensitive: str
    label: str
    known: tuple[str, ...]
    numeric: tuple[str, ...]
    values: Array
    prior: Floats
    encoder: Any
    label_encoder: Any
    imputer: Any
    auxiliary: Targets

    @classmethod
    def of(
        cls,
        auxiliary: Any,
        *,
        sensitive: str,
        label: str,
        known: Sequence[str] | None = None,
        numeric: Sequence[str] | None = None,
        imputer: Any = "logistic",
    ) -> Self:
        """Return the attacker who has these records of others.

        ``known`` columns are all but the sensitive one and the label by default. ``numeric`` ones are standardised,
        the others become one column for each value; by default numbers with more than 20 different values are numeric.
        A missing value (None, or nan among words) is a value of its own there; a numeric column, the sensitive one and
        the label must be complete. ``imputer`` is a classifier with ``fit`` and ``predict_proba`` that learns the
        sensitive column from the known ones and the label: "logistic" regression by default; None for attacks that do
        without.
        """
        if sensitive == label:
            raise ParameterError("AttributeAttacker.label", "another column than the sensitive one", repr(label))
        table = columns_of("auxiliary", auxiliary)
        names = tuple(n for n in table if n not in (sensitive, label)) if known is None else tuple(known)
        if not names or sensitive in names or label in names:
            allowed = f"one or more columns other than {sensitive!r} and {label!r}"
            raise ParameterError("AttributeAttacker.known", allowed, repr(names))
        learner = _imputer(imputer)
        table = columns_of("auxiliary", auxiliary, [*names, sensitive, label], complete=(sensitive, label))
        values, codes = np.unique(table[sensitive], return_inverse=True)
        if values.size < 2:
            raise ParameterError("AttributeAttacker.sensitive", "a column with two values or more", f"{values.size}")
        numbers = _numeric(table, names) if numeric is None else tuple(numeric)
        encoder, label_encoder = _encoders(names, numbers)
        encoded = _float32(encoder.fit_transform(_stack_columns("auxiliary", table, names, numbers)))
        encoded_labels = label_encoder.fit_transform(table[label][:, None])
        if learner is not None:
            with one_thread():
                learner.fit(np.hstack([encoded, _float32(encoded_labels)]), codes)
        return cls(
            sensitive=sensitive,
            label=label,
            known=names,
            numeric=numbers,
            values=values,
            prior=np.bincount(codes) / codes.size,
            encoder=encoder,
            label_encoder=label_encoder,
            imputer=learner,
            auxiliary=Targets(encoded, table[label], codes, None),
        )

    def targets(self, table: Any, *, impute: bool = True) -> Targets:
        """Return encoded records; the imputed probabilities are computed here, once for all models."""
        complete = (self.sensitive, self.label)
        columns = columns_of("targets", table, [*self.known, *complete], complete=complete)
        encoded = _float32(self.encoder.transform(_stack_columns("targets", columns, self.known, self.numeric)))
        truth = _positions(columns[self.sensitive], self.values)
        if np.all(truth < 0):
            _raise_none_listed("targets", columns[self.sensitive], self.values, f"values of {self.sensitive!r}")
        if self.imputer is None or not impute:
            return Targets(encoded, columns[self.label], truth, None)
        encoded_labels = _float32(self.label_encoder.transform(columns[self.label][:, None]))
        probabilities = _probabilities("imputer", self.imputer, np.hstack([encoded, encoded_labels]))
        imputed = np.zeros((truth.size, self.values.size))
        imputed[:, np.asarray(self.imputer.classes_, dtype=np.intp)] = probabilities
        return Targets(encoded, columns[self.label], truth, imputed)

    def features(self, records: Any, value: int | None = None) -> Array:
        """Return what a model sees of records: the known columns and the sensitive one, or ``value`` in its place."""
        some = records if isinstance(records, Targets) else self.targets(records, impute=False)
        codes = some.truth if value is None else np.full(some.size, value)
        one_hot = np.zeros((some.size, self.values.size), dtype=some.known_columns.dtype)
        listed = codes >= 0  # a value that is not among the attacker's: no column for it
        one_hot[np.flatnonzero(listed), codes[listed]] = 1.0
        return np.hstack([some.known_columns, one_hot])

    def view(self, model: Any, targets: Targets, needs: frozenset[str] = frozenset({MODEL, IMPUTED})) -> View:
        """Return what an attack sees of the targets: one call of ``predict_proba`` for each value, on all targets."""
        if IMPUTED in needs and targets.imputed is None:
            hint = "Give AttributeAttacker.of an imputer."
            raise ParameterError("AttributeAttacker.imputer", "a classifier, for this attack", "None", hint)
        scores = labels = loss = None
        if MODEL in needs:
            predictions = [_probabilities("model", model, self.features(targets, v)) for v in range(self.values.size)]
            scores, labels = np.stack(predictions, axis=1), _class_numbers(model, targets.labels)
        if LOSS in needs:
            loss = self._mean_loss(model)
        return View(prior=self.prior, scores=scores, labels=labels, imputed=targets.imputed, mean_loss=loss)

    def _mean_loss(self, model: Any) -> float:
        some = self.auxiliary.take(slice(_LOSS_RECORDS))
        scores, labels = _probabilities("model", model, self.features(some)), _class_numbers(model, some.labels)
        right = np.where(labels < 0, 0.0, scores[np.arange(some.size), labels])
        return float(-np.log(np.maximum(right, _SMALLEST)).mean())


def _numeric(table: Mapping[str, Array], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(n for n in names if table[n].dtype.kind in "iuf" and np.unique(table[n]).size > _CATEGORIES)


def _stack_columns(owner: str, table: Mapping[str, Array], names: Sequence[str], numbers: Sequence[str]) -> Array:
    """Return the columns beside each other, each with its own kind of entry."""
    stacked = np.empty((next(iter(table.values())).size, len(names)), dtype=object)
    for i, name in enumerate(names):
        stacked[:, i] = as_numbers(f"{owner}[{name!r}]", table[name]) if name in numbers else table[name]
    return stacked


def _encoders(names: Sequence[str], numbers: Sequence[str]) -> tuple[Any, Any]:
    try:
        from sklearn.compose import ColumnTransformer
        from sklearn.preprocessing import OneHotEncoder, StandardScaler
    except ImportError:
        raise MissingExtra("scikit-learn", "search") from None
    wrong = [name for name in numbers if name not in names]
    if wrong:
        raise ParameterError("AttributeAttacker.numeric", "known columns", ", ".join(map(repr, wrong)))

    def one_hot() -> Any:
        return OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)

    categories = [i for i, name in enumerate(names) if name not in numbers]
    standard = [i for i, name in enumerate(names) if name in numbers]
    parts = [("categories", one_hot(), categories), ("numbers", StandardScaler(), standard)]
    return ColumnTransformer([part for part in parts if part[2]]), one_hot()


def _float32(array: Any) -> Array:
    return np.ascontiguousarray(array, dtype=np.float32)


def _imputer(imputer: Any) -> Any:
    """Return the classifier that learns to impute, not fitted yet, or None."""
    if isinstance(imputer, str) and imputer == "logistic":
        return _logistic()
    able = hasattr(imputer, "fit") and hasattr(imputer, "predict_proba") and not isinstance(imputer, type)
    if imputer is not None and not able:
        allowed = "'logistic', None, or a classifier with fit and predict_proba"
        raise ParameterError(
            "AttributeAttacker.imputer", allowed, shown(imputer) if isinstance(imputer, str) else type(imputer).__name__
        )
    return imputer


def _logistic() -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtra("scikit-learn", "search") from None
    # A coarse optimum is enough for guesses, and three times as fast.
    return LogisticRegression(max_iter=5_000, tol=1e-3)


def _probabilities(owner: str, model: Any, features: Array) -> Floats:
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        hint = "Fit it first; scikit-learn's classifiers, diffprivlib's and NetworkClassifier have both."
        raise ParameterError(owner, "a fitted classifier with predict_proba and classes_", type(model).__name__, hint)
    probabilities = np.asarray(model.predict_proba(features), dtype=float)
    if probabilities.shape != (features.shape[0], len(model.classes_)):
        allowed = f"of shape {(features.shape[0], len(model.classes_))}"
        raise ParameterError(f"{owner}.predict_proba", allowed, f"shape {probabilities.shape}")
    if not np.all(np.isfinite(probabilities)):
        raise ParameterError(f"{owner}.predict_proba", "finite numbers", "nan or infinite", "Did training diverge?")
    return probabilities


def check_classes(model: Any, labels: Array) -> None:
    """Raise where no label of the targets is among the classes of the model."""
    classes = np.asarray(getattr(model, "classes_", labels))
    if set(classes.tolist()).isdisjoint(labels.tolist()):
        _raise_none_listed("labels of the targets", labels, classes, "classes of the model")


def _class_numbers(model: Any, labels: Array) -> Ints:
    """Return the number of each label among the classes of the model; -1 for a label that it does not know."""
    classes = np.asarray(model.classes_)
    numbers = _positions(labels, classes)
    # A rare label may be missing from the training data, one of another kind is a mistake.
    if np.all(numbers < 0) and not kinds(labels.tolist()) & kinds(classes.tolist()):
        _raise_none_listed("labels of the targets", labels, classes, "classes of the model")
    return numbers


def _positions(column: Array, among: Array) -> Ints:
    """Return where each entry stands in a list, -1 for those that do not."""
    place = {value: i for i, value in enumerate(among.tolist())}
    return np.array([place.get(value, -1) for value in column.tolist()], dtype=np.intp)


def _raise_none_listed(owner: str, column: Array, among: Array, description: str) -> NoReturn:
    got = f"none of them, {column.dtype} against {among.dtype}"
    raise ParameterError(owner, f"among the {among.size} {description}", got, "'1' is never equal to 1.")
