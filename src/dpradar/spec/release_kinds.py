"""What can be named: kinds of releases. Each is a described class, which declares its options itself.

``KINDS`` lists those of dpradar; the kind of a plug-in is looked up when it is named (``options.entry_points``).
"""

from __future__ import annotations

import difflib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from .. import __all__ as public_names
from .. import guarantees as gs
from .. import mechanisms as ms
from ..errors import ParameterError
from ..guarantees.approx import DELTA
from ..options import About, FileName, Flag, describe, described
from ..options.entry_points import installed_plugins, is_own_class, plugin_named
from ..params import shown
from ..threats.attackers import ATTACKERS
from .constructor_calls import Call
from .threat_options import OPTIONS, VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..options import Group, Option
    from ..options.reading import Options, Where
    from ..params import Param
    from ..threats.attackers import AttackerKind

__all__ = ["ALIASES", "IN_FILES", "KINDS", "Kind", "RegisterFile", "kind_named", "kind_of"]

ALIASES = {"pure-dp": "dp"}  # other names in files


@described("register", "All releases of a register file together.", samples=False)
class RegisterFile:
    """A file with everything that was released about the same people."""

    file: Annotated[
        str,
        FileName("a TOML file with one [[release]] table per release"),
        About("the register file", places=("command",)),
    ]


@dataclass(frozen=True, slots=True)
class Kind:
    """A named class of releases with its options, which are described when they are first needed.

    ``optional`` are options with a default here that the class has not, such as ``delta``.

    Examples
    --------
    >>> KINDS["dpsgd"].noise.name, KINDS["rdp"].noise
    ('noise_multiplier', None)
    """

    name: str
    cls: Any
    optional: tuple[tuple[str, Any], ...] = ()

    @property
    def options(self) -> tuple[Option, ...]:
        """Its options, in order."""
        return _options(self.cls, self.optional)

    @property
    def help(self) -> str:
        """What it is, as a sentence."""
        text: str = self.cls.HELP
        return text

    @property
    def group(self) -> Group:
        """What sort of release it is."""
        group: Group = self.cls.GROUP
        return group

    @property
    def samples(self) -> bool:
        """Whether outputs can be drawn from it, so that it can be attacked."""
        return bool(self.cls.SAMPLES)

    @property
    def instead_of_attack(self) -> str:
        """What to do where no outputs can be drawn from it, beside what is said of every promise."""
        text: str = self.cls.INSTEAD_OF_ATTACK
        return text

    @property
    def first(self) -> Mapping[str, str]:
        """What a first question about it says of the attacker."""
        texts: Mapping[str, str] = self.cls.FIRST
        return texts

    @property
    def params(self) -> tuple[Param, ...]:
        """The numbers that can be searched and swept."""
        return tuple(option.param for option in self.options if option.param is not None and option.about.typical)

    @property
    def noise(self) -> Param | None:
        """The parameter that makes the noise: the first required one that has a direction."""
        required = {option.name for option in self.options if option.required}
        able = [param for param in self.params if param.more_private is not None and param.name in required]
        return able[0] if able else None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its options."""
        return tuple(option.name for option in self.options)

    @property
    def on_command_line(self) -> bool:
        """Whether every option that it needs can be given on the command line."""
        return all("command" in option.about.places for option in self.options if option.required)

    @property
    def counts_values(self) -> bool:
        """Whether an option that it needs settles the number of values, so that the attacker's ``m`` has no place."""
        return any(option.required and option.about.counts_values for option in self.options)

    @property
    def threat_options(self) -> tuple[Option, ...]:
        """The options of an attacker on it, without those that its own settle."""
        return tuple(one for one in OPTIONS.values() if not (one.about.counts_values and self.counts_values))

    @property
    def is_about_numbers(self) -> bool:
        """Whether a first question about it says which numbers the values are."""
        return VALUES.name in self.first

    @property
    def attackers(self) -> tuple[AttackerKind, ...]:
        """The attackers about whom a form can ask."""
        about = self.first.get("who")
        return tuple(one for one in ATTACKERS.values() if self.group in one.groups or one.name == about)

    @property
    def states_relation(self) -> bool:
        """Whether a neighbour relation is part of it, not only of a sensitivity or of the question."""
        return any(option.required and option.about.of_question for option in self.options)

    @property
    def relation(self) -> Option | None:
        """The option with its neighbour relation, which belongs to a sensitivity where ``about.beside`` names one."""
        return next((option for option in self.options if option.about.of_question), None)

    def option(self, name: str) -> Option:
        """Return an option by its name."""
        return next(option for option in self.options if option.name == name)

    def call(self, options: Options, where: Where) -> Call:
        """Return the call that makes what some options describe; options of others are left alone."""
        values: dict[str, Any] = {}
        for option in self.options:
            value, beside = options.get(option.name), option.about.beside
            is_unset_flag = isinstance(option.shape, Flag) and value is False
            if is_unset_flag or (value is None and not option.required):
                continue
            if beside and options.get(beside) is None:
                if option.about.of_question:
                    continue
                raise ParameterError(where(option.name), f"given with {where(beside)}", f"no {beside}")
            values[option.name] = option.read(value, where)
        return self._made(values)

    def _made(self, values: dict[str, Any]) -> Call:
        if self.cls is gs.ApproxDP and values.get(DELTA.name, 0.0) == 0.0:
            return Call("PureDP", (), {name: value for name, value in values.items() if name != DELTA.name})
        if self.cls is RegisterFile:
            return Call("spec.register", (values["file"],))
        name = self.cls.__qualname__
        is_public = is_own_class(self.cls) and name in public_names
        return Call(name if is_public else f"{self.cls.__module__}:{name}", (), values)

    @contextmanager
    def placed(self, where: Where) -> Iterator[None]:
        """Let problems with an option name it as it is called where it was given."""
        try:
            yield
        except ParameterError as error:
            option = error.name.rpartition(".")[2]
            if "." not in error.name or option not in self.names:
                raise
            raise ParameterError(where(option), error.allowed, error.got, error.hint) from None


def kind_of(options: Options, where: Where, known: Sequence[str] | None = None) -> Kind:
    """Return the kind that the options name, of dpradar or of a plug-in, or say which are known."""
    name, names = options.get("kind"), tuple(KINDS) if known is None else known
    if isinstance(name, str) and (name in names or name not in KINDS) and (kind := kind_named(name)) is not None:
        return kind
    names = (*names, *(plugin.kind for plugin in installed_plugins() if plugin.kind not in KINDS))
    near = difflib.get_close_matches(str(name).lower(), names, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "`dpradar list` describes them."
    got = "nothing" if name is None else shown(name)
    raise ParameterError(where("kind"), f"one of {', '.join(names)}", got, hint)


def kind_named(name: str) -> Kind | None:
    """Return a kind of dpradar, or else that of a plug-in, which is loaded now; None where there is neither."""
    return KINDS[name] if name in KINDS else _plugin_kind(name)


@lru_cache(maxsize=64)
def _plugin_kind(name: str) -> Kind | None:
    plugin = plugin_named(name)
    return None if plugin is None else Kind(name, plugin.load())


class _Kinds(dict[str, Kind]):
    """The kinds of dpradar by name; ``KINDS[name]`` also gives that of a plug-in."""

    def __missing__(self, name: str) -> Kind:
        kind = _plugin_kind(name)
        if kind is None:
            raise KeyError(name)
        return kind


@cache
def _options(cls: Any, optional: tuple[tuple[str, Any], ...]) -> tuple[Option, ...]:
    defaults = dict(optional)
    return tuple(
        replace(option, default=defaults[option.name]) if option.name in defaults else option
        for option in describe(cls)
    )


_CLASSES: tuple[Any, ...] = (
    *(ms.GRR, ms.SUE, ms.OUE, ms.SubsetSelection, ms.BLH, ms.OLH, ms.SHE, ms.THE, ms.HadamardResponse),
    *(ms.Laplace, ms.Gaussian, ms.Geometric, ms.DiscreteGaussian, ms.Exponential, ms.Channel),
    *(gs.ApproxDP, gs.GDP, gs.ZCDP, gs.RDP, ms.DPSGD, RegisterFile, gs.TotalVariation, gs.Tradeoff),
)
# Without delta, ApproxDP is PureDP: one kind for both guarantees with an epsilon.
_OPTIONAL = {gs.ApproxDP: ((DELTA.name, 0.0),)}
KINDS: Mapping[str, Kind] = _Kinds({cls.KIND: Kind(cls.KIND, cls, _OPTIONAL.get(cls, ())) for cls in _CLASSES})
IN_FILES = tuple(name for name in KINDS if KINDS[name].cls is not RegisterFile)  # a file is a register itself
