"""The tables of a campaign file: the keys of each kind of run."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge

from ..attacks.attack_options import CONFIDENCE, AttackOptions, Maximised
from ..audits.audit_options import AuditOptions
from ..bounds.assess_options import AssessOptions
from ..calibration.calibrate_options import FREE
from ..errors import ParameterError
from ..learning.gradient_scores import CLIP, NOISE, RATE
from ..learning.trainer import LEARNING_RATE, STEPS
from ..options import About, Anything, ListOf, Number, Option, Text, option_of
from ..options.tables import Table, either, options_in
from ..params import Param, shown
from ..spec.claims import ClaimOptions
from ..spec.file_tables import kind_option, limits_option, nested, question_options
from ..spec.model import ReleaseSpec, Spec
from ..spec.release_kinds import IN_FILES, KINDS, Kind, kind_of
from ..spec.threat_options import DATA, PRIOR, SIZE
from ..threats.attackers import can_be_simulated

if TYPE_CHECKING:
    from ..options.reading import Where

__all__ = ["ACTIONS", "ANSWER_ONLY_KEYS", "DESCRIPTIVE_KEYS", "SAMPLER", "SEED", "TEST", "TOP_LEVEL_TABLE"]
__all__ += ["AuditRunOptions", "LearningOptions", "campaign_file", "file_keys", "kinds_for", "run_table"]

ACTIONS = ("attack", "audit", "assess", "calibrate", "learning")
_SIZE = Param(name="size", integer=True, low=1, what="the size of a layer")


@dataclass(frozen=True, slots=True)
class Grid(Anything):
    """Lists of values, each combination of which is a run; judged before the values are put in their places."""

    def schema(self) -> dict[str, Any]:
        """Return a table of lists."""
        return {"type": "object", "additionalProperties": {"type": "array"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRunOptions:
    """Options of an audit in a campaign, beside those of every audit."""

    sampler: Annotated[str, Text("package.module:function or file.py:function"), About("")] | None = None
    test: Annotated[Literal["likelihood", "rad", "search"], About("how the claim is tested")] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningOptions:
    """Options of a training that is attacked."""

    data: Annotated[str, Text("a file .npz with known_x, known_y, x and y", names_file=True), About("")]
    network: Annotated[
        list[int],
        ListOf("sizes of input, hidden layers and classes, such as [784, 10, 10]",
               each=Number(_SIZE.allowed, param=_SIZE)),
        About(""),
    ]  # fmt: skip
    steps: Annotated[int, STEPS]
    clip: Annotated[float, CLIP]
    noise_multiplier: Annotated[float, NOISE]
    learning_rate: Annotated[float, LEARNING_RATE]
    trials: Annotated[int, Ge(1), About("the number of models that are trained")]
    sample_rate: Annotated[float, RATE] | None = None
    activation: Annotated[Literal["relu", "elu", "tanh"], About("the activation function")] | None = None
    knowledge: (
        Annotated[Literal["nothing", "everything", "label"], About("what is known of the target; a label is its class")]
        | None
    ) = None
    maximise: Maximised | None = None
    rule: Annotated[Literal["exact", "printed"], About("which form of the attack is run")] | None = None
    confidence: Annotated[float, CONFIDENCE] | None = None


# Without a default: what a run leaves out is settled by the function that computes it.
_ATTACK, _AUDIT = (
    tuple(replace(option, default=None) for option in options_in(cls)) for cls in (AttackOptions, AuditOptions)
)
(SEED,) = options_in(AttackOptions, "seed")
SAMPLER, TEST = options_in(AuditRunOptions)
_DESCRIPTIVE_OPTIONS = options_in(ReleaseSpec, "name", "note")
DESCRIPTIVE_KEYS = tuple(option.name for option in _DESCRIPTIVE_OPTIONS)
_GRID = option_of("grid", Annotated[Any, Grid(), About("")], None)
_DOMAIN = replace(_AUDIT[0], default=MISSING)  # a protocol says how many values there are
_ACTION_OPTIONS: dict[str, tuple[Option, ...]] = {
    "attack": _ATTACK,
    "audit": (*_AUDIT[1:], *options_in(ClaimOptions), *options_in(AuditRunOptions)),
    "assess": options_in(AssessOptions),
    "calibrate": (limits_option(needed=True), FREE),
    "learning": options_in(LearningOptions),
}
_ANSWER_ONLY = {
    "attack": options_in(AttackOptions, "trials", "confidence"),
    "audit": (*options_in(AuditOptions, "trials", "significance"), *options_in(ClaimOptions)),
    "learning": options_in(LearningOptions, "trials", "knowledge", "maximise", "rule", "confidence"),
}
# Keys that affect only the answer, not the shards: runs that differ in nothing else share their shards.
ANSWER_ONLY_KEYS = {do: tuple(option.name for option in options) for do, options in _ANSWER_ONLY.items()}
_TOP = (*options_in(Spec, "title", "description"), SEED)
TOP_LEVEL_TABLE = Table(
    "Campaign", "Keys outside of runs.", (*_TOP, nested("run", needed=True, several=True, separately=True))
)


def kinds_for(do: str) -> tuple[str, ...]:
    """Return the kinds of releases that a run may be about.

    Examples
    --------
    >>> "gdp" in kinds_for("attack"), "gdp" in kinds_for("assess"), kinds_for("audit")[:3]
    (False, True, ('grr', 'sue', 'oue'))
    """
    return tuple(name for name in IN_FILES if _accepts(do, KINDS[name]))


def _accepts(do: str, kind: Kind) -> bool:
    """Whether a run may be about a kind."""
    if do == "attack":
        return kind.samples
    if do == "audit":
        return SIZE.name in [param.name for param in kind.params]
    if do == "calibrate":
        return kind.noise is not None
    return do == "assess"


@cache
def _run_table(do: str, kind: str | None) -> Table:
    """Return the keys of a run, and which it needs, in the run itself or in its grid."""
    options: dict[str, Option] = {}
    if kind is not None:
        options = {option.name: option for option in question_options(kind)}
    elif do == "audit":
        options = {option.name: option for option in (_DOMAIN, PRIOR)}
    if do in ("attack", "audit"):
        options = {name: option for name, option in options.items() if can_be_simulated(option.about)}
    options |= {
        option.name: option
        for option in (kind_option("do", do), *_DESCRIPTIVE_OPTIONS, SEED, _GRID, *_ACTION_OPTIONS[do])
    }
    if do == "audit" and kind is None:
        options[SAMPLER.name] = replace(SAMPLER, default=MISSING)
    return Table("Run", f"A run: {do}.", tuple(options.values()))


def file_keys(do: str, kind: str | None) -> tuple[str, ...]:
    """Return the keys of a run whose text is the name of a file."""
    return tuple(option.name for option in _run_table(do, kind).options if option.shape.names_file)


def run_table(table: dict[str, Any], where: Where) -> Table:
    """Return the keys of a run, or raise ParameterError when it does not say what it is about."""
    do, kind = table["do"], table.get("kind")
    if do == "learning" or (do == "audit" and kind is None):
        return _run_table(do, None)
    if not _accepts(do, kind_of({"kind": kind}, where, kinds_for(do))):  # a plug-in
        raise ParameterError(where("kind"), f"one of {', '.join(kinds_for(do))}", shown(kind))
    not_needed = (SIZE.name,) if DATA.name in table else ()  # a table says how many values there are
    keys = _run_table(do, str(kind)).not_needing(not_needed)
    if do != "calibrate":
        return keys
    noise = KINDS[str(kind)].noise
    free_names = [param.name for param in KINDS[str(kind)].params if param.more_private is not None]
    free = table.get(FREE.name, None if noise is None else noise.name)
    if free not in free_names:
        raise ParameterError(where(FREE.name), f"one of {', '.join(free_names)}", shown(free), "It is chosen for you.")
    return keys.not_needing([str(free)])


def campaign_file() -> Table:
    """Return the keys of a whole file.

    A grid may vary the kind and hold what a run needs: a run has the keys of all kinds here, and needs none of them.
    """
    runs = nested("run", *map(_run_of_any_kind, ACTIONS), needed=True, several=True)
    return Table("Campaign", "Many attacks, audits, assessments and training runs.", (*_TOP, runs))


def _run_of_any_kind(do: str) -> Table:
    kinds = kinds_for(do)
    options: dict[str, Option] = {}
    for kind in (*kinds, None) if do == "audit" else kinds or (None,):
        for option in _run_table(do, kind).options:
            earlier = options.get(option.name)
            shape = option.shape if earlier is None else either(earlier.shape, option.shape)
            options[option.name] = replace(option, shape=shape, default=None)
    options["do"] = kind_option("do", do)
    if kinds:
        options["kind"] = replace(kind_option("kind", *kinds), default=None)
    return Table(do.capitalize(), f"A run: {do}.", tuple(options.values()))
