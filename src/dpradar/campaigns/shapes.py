"""The shape of a campaign file, by pydantic: the keys of each kind of run. Imported only when a file is read."""

from __future__ import annotations

from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from ..attacks.attack_runs import CONFIDENCE
from ..attacks.attack_runs import TRIALS as ATTACKS
from ..audits.audit import LOOKS, SIGNIFICANCE
from ..audits.audit import TRIALS as OUTPUTS
from ..errors import ParameterError
from ..learning.gradient_scores import CLIP, NOISE, RATE
from ..learning.trainer import LEARNING_RATE, STEPS
from ..params import Param, shown
from ..spec.kinds import IN_FILES, KINDS, kind_of
from ..spec.shapes import Allowed, Limits, Table, Text, question_keys, table_model, type_of

if TYPE_CHECKING:
    from ..options.reading import Where

__all__ = ["DOES", "Top", "file_model", "kinds_for", "run_model"]

DOES = ("attack", "audit", "assess", "calibrate", "learning")
_WITHOUT_PRIOR = ("baseline", "membership", "worst")
_SEED = Param(name="seed", integer=True, low=0, what="the seed; it gives the same result again")
_COUNT = Param(name="domain", integer=True, low=2, what="the number of values; the inputs are 0 .. domain-1")
_EPSILON = Param(name="epsilon", low=0.0, what="the epsilon that is claimed")
_DELTA = Param(name="delta", low=0.0, high=1.0, what="the delta that is claimed")
_LOSS = Param(name="loss", low=0.0, low_open=True, what="the mu or rho that is claimed")
_MODELS = Param(name="trials", integer=True, low=1, what="how many models are trained", typical=(8, 8_000))
_TOLERANCE = Param(name="tolerance", low=0.0, low_open=True, what="the relative width to which losses are refined")

Flag = Annotated[bool, Allowed("true or false")]
_Grid = Annotated[dict[str, list[Any]], Allowed("a table of lists", "Such as [run.grid] with epsilon = [1.0, 2.0].")]
_RUN: dict[str, Any] = {
    "do": Literal[DOES],
    "name": Text,
    "note": Text,
    "seed": type_of(_SEED),
    "grid": _Grid,
}
_MAXIMISE = Annotated[Literal["rad", "success"], Allowed("'rad' or 'success'")]
_KEYS: dict[str, dict[str, Any]] = {
    "attack": {
        "trials": type_of(ATTACKS),
        "maximise": _MAXIMISE,
        "strategy": Annotated[Literal["report", "prior"], Allowed("'report' or 'prior'", "Else the optimal attack.")],
        "confidence": type_of(CONFIDENCE),
    },
    "audit": {
        "sampler": Annotated[str, Allowed("package.module:function or file.py:function")],
        "one_value": Flag,
        "output_kind": Annotated[
            Literal["auto", "categorical", "real", "bits", "subset", "vector"], Allowed("a kind of outputs")
        ],
        "test": Annotated[Literal["likelihood", "rad", "search"], Allowed("'likelihood', 'rad' or 'search'")],
        "claim_epsilon": type_of(_EPSILON),
        "claim_delta": type_of(_DELTA),
        "claim_mu": type_of(_LOSS),
        "claim_rho": type_of(_LOSS),
        "trials": type_of(OUTPUTS),
        "significance": type_of(SIGNIFICANCE),
        "sequential": Flag,
        "looks": type_of(LOOKS),
    },
    "assess": {"tolerance": type_of(_TOLERANCE)},
    "calibrate": {
        "limits": Annotated[Limits, Allowed("a table such as { rad = 0.1 }")],
        "free": Annotated[str, Allowed("the parameter to choose")],
    },
    "learning": {
        "data": Annotated[str, Allowed("a file .npz with known_x, known_y, x and y")],
        "network": Annotated[list[int], Allowed("sizes of input, hidden layers and classes, such as [784, 10, 10]")],
        "activation": Annotated[Literal["relu", "elu", "tanh"], Allowed("'relu', 'elu' or 'tanh'")],
        **{param.name: type_of(param) for param in (STEPS, CLIP, NOISE, LEARNING_RATE, RATE)},
        "knowledge": Annotated[
            Literal["nothing", "everything", "label"], Allowed("'nothing', 'everything' or 'label' (the class)")
        ],
        "maximise": _MAXIMISE,
        "rule": Annotated[Literal["exact", "printed"], Allowed("'exact' or 'printed'")],
        "confidence": type_of(CONFIDENCE),
        "trials": type_of(_MODELS),
    },
}
_NEEDED = {
    "calibrate": ("limits",),
    "learning": ("data", "network", "steps", "clip", "noise_multiplier", "learning_rate", "trials"),
}
_DOMAIN: dict[str, Any] = {"domain": type_of(_COUNT)}
_TOP: dict[str, Any] = {"title": Text, "description": Text, "seed": type_of(_SEED)}
Top = table_model("Campaign", "Keys outside of runs.", {**_TOP, "run": Any}, ("run",))


def kinds_for(do: str) -> tuple[str, ...]:
    """Return the kinds of releases that a run may be about.

    Examples
    --------
    >>> "gdp" in kinds_for("attack"), "gdp" in kinds_for("assess"), kinds_for("audit")[:3]
    (False, True, ('grr', 'sue', 'oue'))
    """
    if do == "attack":
        return tuple(name for name in IN_FILES if KINDS[name].samples)
    if do == "audit":
        return tuple(name for name in IN_FILES if "m" in [param.name for param in KINDS[name].params])
    if do == "calibrate":
        return tuple(name for name in IN_FILES if KINDS[name].noise is not None)
    return IN_FILES if do == "assess" else ()


def _keys(do: str, kind: str | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the keys of a run, and those it needs, in the run itself or in its grid."""
    keys, needed = ({}, ()) if kind is None else question_keys(kind)
    if do in ("attack", "audit"):
        keys = {key: kept for key, kept in keys.items() if key not in _WITHOUT_PRIOR}
    if do == "audit" and kind is None:
        keys, needed = {**_DOMAIN, "prior": question_keys("grr")[0]["prior"]}, ("domain", "sampler")
    return {**keys, **_RUN, **_KEYS[do]}, ("do", *needed, *_NEEDED.get(do, ()))


@cache
def _model(do: str, kind: str | None, left_out: tuple[str, ...] = ()) -> type[Table]:
    keys, needed = _keys(do, kind)
    return table_model("Run", f"A run: {do}.", keys, tuple(key for key in needed if key not in left_out))


@cache
def file_model() -> type[Table]:
    """Return the shape of a whole file, for the JSON Schema.

    A grid may vary the kind and hold what a run needs: a run has the keys of all kinds here, and needs none of them.
    """
    runs: Any = Annotated[reduce(or_, map(_any_kind, DOES)), Field(discriminator="do")]
    keys = {**_TOP, "run": runs | list[runs]}
    return table_model("Campaign", "Many attacks, audits, assessments and trainings.", keys, ("run",))


def _any_kind(do: str) -> type[Table]:
    kinds = kinds_for(do)
    keys: dict[str, Any] = {}
    for kind in (*kinds, None) if do == "audit" else kinds or (None,):
        for key, shape in _keys(do, kind)[0].items():
            keys[key] = keys.get(key, shape) | shape
    keys |= {"do": Literal[do], **({"kind": Literal[kinds]} if kinds else {})}
    return table_model(do.capitalize(), f"A run: {do}.", keys, ("do",))


def run_model(table: dict[str, Any], where: Where) -> type[Table]:
    """Return the shape of a run, or raise ParameterError when it does not say what it is about."""
    do, kind = table["do"], table.get("kind")
    if do == "learning" or (do == "audit" and kind is None):
        return _model(do, None)
    kind_of({"kind": kind}, where, kinds_for(do))
    counted = ("m",) if "data" in table else ()  # a table says how many values there are
    if do != "calibrate":
        return _model(do, str(kind), counted)
    noise = KINDS[str(kind)].noise
    able = [param.name for param in KINDS[str(kind)].params if param.more_private is not None]
    free = table.get("free", None if noise is None else noise.name)
    if free not in able:
        raise ParameterError(where("free"), f"one of {', '.join(able)}", shown(free), "It is chosen for you.")
    return _model(do, str(kind), (str(free), *counted))
