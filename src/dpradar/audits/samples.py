"""Logged pairs of an input and the output that was released for it."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..numerics.lazy_numpy import Array, Ints, np
from .output_arrays import Kind, RequestedKind, encode, missing_value_error, normalise, plain_list

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Samples", "normalise"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Samples:
    """Pairs of an input and an output, in place of a sampler.

    Use :meth:`of` or :meth:`read`. ``inputs`` has a code for each pair and ``names[code]`` is the input; numbers are
    in order of size, other inputs in order of appearance. ``outputs`` depends on ``kind``:

    ===============  ======================================================  ==========================================
    kind             outputs                                                 output_names
    ===============  ======================================================  ==========================================
    ``categorical``  codes 0 .. k-1                                          the output behind each code
    ``real``         floats                                                  None
    ``bits``         booleans, one row for each pair                         the value behind each column, or None
    ``vector``       floats, one row for each pair                           None
    ===============  ======================================================  ==========================================

    Examples
    --------
    >>> samples = Samples.of(["old", "young", "old"], ["yes", "no", "no"])
    >>> samples
    Samples(3 pairs, 2 inputs, categorical outputs)
    >>> samples.names, samples.output_names
    (('old', 'young'), ('no', 'yes'))
    >>> samples.outputs_of(0)
    array([1, 0])
    """

    inputs: Ints
    names: tuple[Any, ...]
    outputs: Array
    kind: Kind
    output_names: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.outputs):
            got = f"{len(self.inputs)} inputs and {len(self.outputs)} outputs"
            raise ParameterError("Samples", "as many inputs as outputs", got)
        if len(self.inputs) == 0:
            raise ParameterError("Samples", "at least one pair of an input and an output", "none")
        if len(self.names) < 2:
            hint = "An audit compares the outputs of two inputs; log another one too."
            raise ParameterError("Samples.inputs", "at least two different inputs", "one", hint)

    @classmethod
    def of(cls, inputs: object, outputs: object, *, output_kind: RequestedKind = "auto") -> Samples:
        """Return the samples with these inputs and outputs, two lists or arrays of the same length.

        Inputs are numbers, booleans, words or other hashable things. What the outputs are is decided by their type:
        whole numbers, booleans and words are categories (``"categorical"``); other numbers are ``"real"``; rows of
        equal length of booleans or of 0 and 1 are ``"bits"``; sets, lists of words, lists of unequal length, and lists
        of whole numbers of at least 0 of which none stands twice in its list are subsets, which become ``"bits"``
        with one column for each value that is seen; all other rows of numbers, and arrays of two dimensions, are a
        ``"vector"``. Where that is not what is meant, ``output_kind`` says it: ``"categorical"``, ``"real"``,
        ``"bits"``, ``"subset"`` or ``"vector"``.

        Examples
        --------
        >>> Samples.of([0, 1], [[True, False], [False, True]]).kind
        'bits'
        >>> subsets = Samples.of([0, 1, 1], [[4, 7], [7, 9], [4, 9]])
        >>> subsets.output_names, subsets.outputs.astype(int).tolist()
        ((4, 7, 9), [[1, 1, 0], [0, 1, 1], [1, 0, 1]])
        >>> Samples.of([0, 1, 1], [[4, 7], [7, 9], [4, 9]], output_kind="vector").kind
        'vector'
        """
        kind, array, names = normalise(outputs, output_kind)
        return cls._built(inputs, kind, array, names)

    @classmethod
    def read(
        cls,
        path: str | Path,
        input: str = "input",
        output: str | Sequence[str] = "output",
        *,
        output_kind: RequestedKind = "auto",
    ) -> Samples:
        r"""Return the samples in a file: one row for each pair, under a header with the names of the columns.

        Files end with .csv, .csv.gz, .tsv, .tsv.gz or .parquet (this one needs the extra ``data``). Parquet has types,
        so :meth:`of` says what the outputs are. In text the rule is, for all cells of the column together:

        - all are whole numbers without point, exponent and leading zeros: categories;
        - all are numbers: real. A column of numbers with words such as NA or nan among them is an error;
        - all start with ``[``: JSON lists, which are bits, subsets or vectors as in :meth:`of`;
        - all else: categories. So ``01101`` is a category unless ``output_kind="bits"``.

        Several columns of numbers as ``output`` are one vector, or bits if all are 0 and 1. Nothing is skipped:
        a missing value, or a row that is too short or too long, is an error that names the row below the header.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "log.csv")
        ...     _ = path.write_text("truth,answer\n2,0.5\n1,-3\n2,1.5\n")
        ...     samples = Samples.read(path, input="truth", output="answer")
        >>> samples.kind, samples.names, samples.outputs.tolist()
        ('real', (1, 2), [0.5, -3.0, 1.5])
        """
        from .log_files import read_log

        log = read_log(path, input, output, output_kind)
        return cls._built(log.inputs, *log.outputs)

    @classmethod
    def _built(cls, inputs: object, kind: Kind, outputs: Array, output_names: tuple[Any, ...] | None) -> Samples:
        if kind == "categorical" and output_names is None:
            values, outputs = np.unique(outputs, return_inverse=True)
            output_names = tuple(values.tolist())
        codes, names = _encode_inputs(inputs)
        return cls(codes, names, outputs, kind, output_names)

    def __repr__(self) -> str:
        # Logged pairs are private data: their number is all that is shown.
        return f"Samples({self.size} pairs, {len(self.names)} inputs, {self.kind} outputs)"

    @property
    def size(self) -> int:
        """The number of pairs."""
        return len(self.inputs)

    @property
    def counts(self) -> Ints:
        """The number of pairs of each input."""
        return np.bincount(self.inputs, minlength=len(self.names))

    def outputs_of(self, code: int) -> Array:
        """Return the outputs for the input with this code."""
        if not 0 <= code < len(self.names):
            raise ParameterError("code", f"from 0 to {len(self.names) - 1}", f"{code}")
        return np.asarray(self.outputs[self.inputs == code])


def _encode_inputs(inputs: object) -> tuple[Ints, tuple[Any, ...]]:
    """Return the code of each input and the inputs behind the codes."""
    if isinstance(inputs, np.ma.MaskedArray):
        if np.ma.is_masked(inputs):
            raise missing_value_error("inputs", int(np.argmax(np.ma.getmaskarray(inputs))))
        inputs = inputs.data
    if isinstance(inputs, np.ndarray) and inputs.ndim == 1 and inputs.dtype.kind in "biuf":
        if np.isnan(inputs).any():
            raise missing_value_error("inputs", int(np.argmax(np.isnan(inputs))))
        different, codes = np.unique(inputs, return_inverse=True)
        return codes, tuple(different.tolist())
    values = [v.item() if isinstance(v, np.generic) else v for v in plain_list("inputs", inputs)]
    try:
        distinct = dict.fromkeys(values)
    except TypeError:
        hint = "Give the inputs names, and keep the records elsewhere."
        raise ParameterError("inputs", "numbers, words or other hashable things", "something else", hint) from None
    for value in distinct:
        if value is None or value != value:  # noqa: PLR0124 (only nan differs from itself)
            raise missing_value_error("inputs", values.index(value))
    return encode(values, ordered=all(isinstance(value, Real) for value in distinct))
