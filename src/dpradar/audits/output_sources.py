"""Where outputs come from: a function on values, a mechanism on pairs of data sets, a program, or a log."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, cast

from ..errors import DpradarError, ParameterError
from ..numerics.lazy_numpy import Array, Ints, np
from ..params import shown
from .executable import Executable
from .output_arrays import RequestedKind, normalise
from .samples import Samples

__all__ = ["Batch", "OutputSource", "source_of"]

_ONE_VALUE = "vectorised=False (command line: --one-value)"
_MOST_VALUES = 1_000_000  # each has a name, and some have outputs
_PROBE = 32  # copies of one input by which a function that shares its noise is recognised
_CALLS = 20  # calls with them, as long as their outputs could still be those of a function without noise


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Outputs of one kind, a row each; ``raw`` as the function returned them (for a known protocol)."""

    kind: str
    array: Array
    raw: Any


@dataclass(slots=True, eq=False)
class OutputSource:
    """Something that gives outputs for inputs; each input has a name for the witness.

    ``pairs`` are the pairs of inputs that may be compared (all, when None).
    """

    names: tuple[str, ...]
    call: Callable[[Ints, np.random.Generator], Any]
    pairs: tuple[tuple[int, int], ...] | None = None
    log: Samples | None = None
    requested_kind: RequestedKind = "auto"
    known_names: tuple[Any, ...] = field(default=())
    kind: str | None = None
    named: bool = False
    lock: Lock = field(default_factory=Lock)  # names get their codes one batch after the other

    def draw(self, inputs: Ints, rng: np.random.Generator) -> Any:
        """Return one output per input, as the function gives them."""
        try:
            return self.call(inputs.copy(), rng)  # a copy, as of records and data sets: functions may work in place
        except DpradarError:
            raise
        except Exception as error:  # code of others: it may raise anything
            allowed, hint = (
                "a function that returns outputs whenever it is called",
                "The error was raised by the sampler.",
            )
            raise ParameterError("sampler", allowed, f"{type(error).__name__} at a later call", hint) from error

    def batch(self, inputs: Ints, rng: np.random.Generator) -> Batch:
        """Return one output per input, normalised; names and the kind of the first batch are kept."""
        raw = self.draw(inputs, rng)
        with self.lock:
            return self._normalise(raw, inputs.size)

    def _normalise(self, raw: Any, count: int) -> Batch:
        # A few rows of a vector may look like bits or like sets, and a few sets like bits.
        keeps_kind = self.requested_kind == "auto" and self.kind in ("real", "vector")
        kind, array, names = normalise(
            raw, cast("RequestedKind", self.kind) if keeps_kind else self.requested_kind, self.known_names
        )
        if self.named and self.requested_kind == "auto" and kind == "bits" and names is None:
            kind, array, names = normalise(raw, "subset", self.known_names)
        if len(array) != count:
            hint = "A sampler returns one output for each input it is given."
            raise ParameterError("sampler", f"one that returns {count} outputs", f"{len(array)}", hint)
        if self.kind is not None and (kind, names is not None) != (self.kind, self.named):
            hint = "Say what they are, such as output_kind='real' (command line: --output-kind real)."
            if kind == self.kind:
                hint = "Return all of them as words, or none."
            got = kind if kind != self.kind else "numbers first and words later"
            raise ParameterError("sampler", f"one whose outputs stay {self.kind}", got, hint)
        self.kind, self.named = kind, names is not None
        if names is not None:
            self.known_names = names
        return Batch(kind, array, raw)


def source_of(
    sampler: Any,
    domain: Any,
    pairs: Any,
    *,
    vectorised: bool | None,
    requested_kind: RequestedKind,
    probe: np.random.Generator,
) -> OutputSource:
    """Return the source that the arguments of an audit describe."""
    if isinstance(sampler, Samples):
        return OutputSource(tuple(map(str, sampler.names)), _no_call, log=sampler)
    if pairs is not None:
        return _of_pairs(sampler, pairs, requested_kind, probe)
    records, count = _domain(sampler, domain)
    names = tuple(map(shown, records)) if records is not None else tuple(f"value {k}" for k in range(count))
    if not callable(sampler):
        hint = "Or Samples.read('pairs.csv') for a log, or Executable([...]) for a program."
        raise ParameterError("sampler", "a function (inputs, rng) -> outputs", shown(sampler), hint)
    source = OutputSource(names, _function(sampler, records, vectorised=vectorised), requested_kind=requested_kind)
    if not isinstance(sampler, Executable):
        _check_own_noise(source, probe)
    return source


def _no_call(inputs: Ints, rng: np.random.Generator) -> Any:
    message = "a log has the outputs it has; more cannot be drawn"
    raise ParameterError("sampler", "a function or a program", "a log", message)


def _domain(sampler: Any, domain: Any) -> tuple[list[Any] | None, int]:
    hint = "Give domain=100 (command line: --domain 100) for the values 0..99, or domain=[...] with the records."
    if isinstance(sampler, Executable) and domain is None and sampler.inputs is not None:
        return None, len(sampler.inputs)
    if isinstance(domain, (int, np.integer)) and not isinstance(domain, bool):
        count, records = int(domain), None
        if count > _MOST_VALUES:
            hint_for_large = (
                "Audit a random part of the values, as a list: a claim about all of them is one about these."
            )
            raise ParameterError("audit.domain", f"at most {_MOST_VALUES:,} values", f"{count:,}", hint_for_large)
    elif isinstance(domain, Iterable) and not isinstance(domain, (str, bytes)):
        records = list(domain)
        count = len(records)
    else:
        raise ParameterError("audit.domain", "a whole number or a list of records", repr(domain), hint)
    if count < 2:
        raise ParameterError("audit.domain", "of at least 2 values", f"{count}", hint)
    return records, count


def _positional(function: Any) -> int:
    """Return how many positional arguments a function needs; 2 where that is unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    required = [
        p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    return len(required)


def _function(sampler: Any, records: list[Any] | None, *, vectorised: bool | None) -> Callable[..., Any]:
    takes_rng = isinstance(sampler, Executable) or _positional(sampler) >= 2
    at_once = takes_rng if vectorised is None else vectorised

    def call(inputs: Ints, rng: np.random.Generator) -> Any:
        if at_once:
            arguments: Any = inputs if records is None else [copy(records[k]) for k in inputs.tolist()]
            return sampler(arguments, rng) if takes_rng else sampler(arguments)
        values = inputs.tolist() if records is None else [copy(records[k]) for k in inputs.tolist()]
        return [sampler(value, rng) if takes_rng else sampler(value) for value in values]

    return call


def _check_own_noise(source: OutputSource, rng: np.random.Generator) -> None:
    """Raise when many copies of one input show that outputs are not independent.

    They get the same output, which changes from call to call: the noise is drawn once for the whole array. Or they get
    different outputs, but the same ones at every call: the function starts its random numbers anew.
    """
    copies, known_names = np.zeros(_PROBE, dtype=np.intp), source.known_names
    calls: list[Array] = []
    while len(calls) < _CALLS:
        try:
            _, outputs, names = normalise(source.call(copies.copy(), rng), source.requested_kind, known_names)
        except ParameterError:
            raise
        except Exception as error:  # code of others: it may raise anything
            hint = f"The error was raised by the sampler itself; a function of one value needs {_ONE_VALUE}."
            got = f"{type(error).__name__}"
            raise ParameterError("sampler", f"a function that can be asked for {_PROBE} outputs", got, hint) from error
        if len(outputs) != _PROBE:
            hint = f"Return one output for each input; a function of one value needs {_ONE_VALUE}."
            allowed = f"one that returns {_PROBE} outputs for {_PROBE} inputs"
            raise ParameterError("sampler", allowed, f"{len(outputs)}", hint)
        known_names = names or known_names
        calls.append(outputs)
        constant = [bool(np.all(out == out[:1])) for out in calls]
        same = all(np.array_equal(out, calls[0]) for out in calls)
        if all(constant) and not same:
            hint = f"Its noise is drawn once for the whole array; a function of one value needs {_ONE_VALUE}."
            raise ParameterError("sampler", "one that draws noise for every input", f"{_PROBE} equal outputs", hint)
        if not (all(constant) or same):
            return
    if not constant[0]:
        hint = "Seed the generator outside of the function, or use the one that is passed to it."
        raise ParameterError("sampler", "one that draws new noise at every call", "the same outputs every time", hint)


def _of_pairs(sampler: Any, pairs: Any, requested_kind: RequestedKind, probe: np.random.Generator) -> OutputSource:
    hint = "Such as pairs=[(data_with, data_without)]."
    if not isinstance(pairs, Sequence) or not pairs or any(len(pair) != 2 for pair in pairs):
        raise ParameterError("audit.pairs", "a list of pairs of neighbouring data sets", shown(pairs), hint)
    if not callable(sampler):
        raise ParameterError("sampler", "a function of a data set", shown(sampler), hint)
    sets = [data for pair in pairs for data in pair]
    names = tuple(f"data set {side} of pair {k + 1}" for k in range(len(pairs)) for side in ("A", "B"))
    arguments = _positional(sampler)

    def call(inputs: Ints, rng: np.random.Generator) -> Any:
        if arguments >= 3:  # (data set, how many, rng): one call for all outputs about a data set
            return _gather_outputs(sampler, sets, inputs, rng)
        fresh = (copy(sets[k]) for k in inputs.tolist())
        return [sampler(data, rng) if arguments == 2 else sampler(data) for data in fresh]

    compared = tuple((2 * k, 2 * k + 1) for k in range(len(pairs)))
    source = OutputSource(names, call, pairs=compared, requested_kind=requested_kind)
    if arguments >= 3:
        _check_own_noise(source, probe)
    return source


def _gather_outputs(sampler: Any, sets: list[Any], inputs: Ints, rng: np.random.Generator) -> Any:
    order = np.argsort(inputs, kind="stable")
    kinds, counts = np.unique(inputs, return_counts=True)
    parts = [np.asarray(sampler(copy(sets[k]), n, rng)) for k, n in zip(kinds.tolist(), counts.tolist(), strict=True)]
    if [len(part) for part in parts] != counts.tolist():
        raise ParameterError("sampler", "one that returns as many outputs as requested", "another number")
    result = np.concatenate(parts)
    back = np.empty_like(result)
    back[order] = result
    return back
