"""Import an object by name: ``package.module:function`` or ``path/file.py:function``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError

if TYPE_CHECKING:
    from types import CodeType, ModuleType

__all__ = ["import_object"]


def import_object(text: str, option: str, folder: Path | None = None) -> Any:
    """Return the object behind package.module:name or path/file.py:name; both are looked for in the folder first.

    Examples
    --------
    >>> import_object("math:gcd", "sampler")(12, 18)
    6
    """
    place, colon, name = text.rpartition(":")
    hint = "Such as mypackage.mymodule:sampler or path/file.py:sampler."
    if not colon or not place or not name:
        raise ParameterError(option, "module:name, file.py:name or a log", repr(text), hint)
    base_folder = Path.cwd() if folder is None else folder.resolve()
    try:
        if place.endswith(".py"):
            module = _module_of_file(base_folder / place)
        else:
            if str(base_folder) not in sys.path:
                sys.path.insert(0, str(base_folder))
            module = importlib.import_module(place)
    except (ImportError, OSError, SyntaxError) as error:
        raise ParameterError(option, "something that can be imported", repr(text), f"{error}. {hint}") from None
    except Exception as error:  # code of others: it may raise anything
        got = f"a module that raises {type(error).__name__}"
        raise ParameterError(option, "something that can be imported", got, hint) from error
    if not hasattr(module, name):
        raise ParameterError(option, f"a name of {place}", repr(name), hint)
    return getattr(module, name)


class _SourceLoader(SourceFileLoader):
    """Compiles the source whenever it is asked: cached bytecode may be that of another version of the same second."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the file as it is now."""
        return self.source_to_code(self.get_data(self.path), self.path)


def _module_of_file(place: Path) -> ModuleType:
    """Return a file as a module; one that fails leaves nothing behind."""
    spec = importlib.util.spec_from_file_location(place.stem, place, loader=_SourceLoader(place.stem, str(place)))
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        spec.loader.exec_module(module)  # type: ignore[union-attr]
    except BaseException:
        del sys.modules[module.__name__]
        if before is not None:
            sys.modules[module.__name__] = before
        raise
    return module
