"""Plug-ins: mechanisms of other distributions, offered by an entry point of the group ``dpradar.mechanisms``.

Reading the metadata of the installed distributions imports none of them. A plug-in is imported when its kind is named,
and a name that dpradar has itself is never looked up here. Whoever installs a distribution consents to running it:
files, stores and saved results can only name a kind.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import Any

from ..errors import ParameterError

__all__ = ["GROUP", "Plugin", "installed_plugins", "is_own_class", "plugin_named", "plugin_notes"]

GROUP = "dpradar.mechanisms"


@dataclass(frozen=True, slots=True)
class Plugin:
    """A kind, the class behind it as ``module:Class``, and the distribution that offers it."""

    kind: str
    target: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"

    def load(self) -> Any:
        """Import the class; raises ParameterError where that fails or it is no described mechanism of this kind."""
        module, _, name = self.target.partition(":")
        try:
            cls = getattr(import_module(module), name)
        except Exception as error:  # code of others may raise anything
            raise self._unusable(f"{type(error).__name__}: {error}") from error
        if getattr(cls, "KIND", None) != self.kind:
            raise self._unusable(f"{self.target} is not a class made by @described({self.kind!r}, ...)")
        if not hasattr(cls, "at") and not hasattr(cls, "privacy"):
            raise self._unusable(f"{self.target} has neither at() nor privacy()")
        return cls

    def _unusable(self, why: str) -> ParameterError:
        hint = f"Report this to the authors of {self.distribution}, or uninstall it."
        return ParameterError("kind", "a mechanism that can be loaded", f"{self.kind!r} of {self} ({why})", hint)


def installed_plugins() -> tuple[Plugin, ...]:
    """Return what the installed distributions offer, by name; none of it is imported."""
    from importlib.metadata import entry_points

    plugins = [
        Plugin(entry.name, entry.value, entry.dist.name, entry.dist.version)
        for entry in entry_points(group=GROUP)
        if entry.dist is not None
    ]
    return tuple(sorted(plugins, key=lambda plugin: (plugin.kind, plugin.distribution)))


def plugin_named(kind: str) -> Plugin | None:
    """Return the plug-in of a kind; raises ParameterError where two distributions offer it."""
    candidates = [plugin for plugin in installed_plugins() if plugin.kind == kind]
    if len(candidates) > 1:
        names = " and ".join(map(str, candidates))
        raise ParameterError("kind", "offered by one plug-in", f"{kind!r} of {names}", "Uninstall all but one.")
    return candidates[0] if candidates else None


def is_own_class(cls: type) -> bool:
    """Whether a class is part of dpradar."""
    return cls.__module__.partition(".")[0] == "dpradar"


@cache
def _note(cls: type) -> str | None:
    """Return which plug-in a class is, in words."""
    if is_own_class(cls) or not hasattr(cls, "KIND"):  # a number or a text is no mechanism: look nothing up
        return None
    target = f"{cls.__module__}:{cls.__qualname__}"
    plugins = [plugin for plugin in installed_plugins() if plugin.target == target]
    return f"the plug-in {plugins[0]} describes {plugins[0].kind} correctly" if plugins else None


def plugin_notes(release: Any) -> tuple[str, ...]:
    """Return which plug-ins a release is made of, with their versions, for the results that rest on them."""
    cls: Any = type(release)
    note_of_class = _note(cls)
    notes = [] if note_of_class is None else [note_of_class]
    if isinstance(release, (list, tuple)):
        notes += [note for part in release for note in plugin_notes(part)]
    elif note_of_class is None and is_dataclass(release) and is_own_class(cls):  # composed of others
        notes += [note for field in fields(release) for note in plugin_notes(getattr(release, field.name))]
    return tuple(dict.fromkeys(notes))
