"""numpy, imported when one of its names is first used: a command that computes nothing does not wait for it.

Once it is loaded ``np`` is a plain module that holds the names of numpy, so that loops do not pay. The types of arrays
are for annotations; at run time they are ``Any``.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["Array", "ArrayLike", "Bools", "Floats", "Int64s", "Ints", "NDArray", "np"]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]
    Int64s = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Array = NDArray[Any]
else:

    class _Unloaded(ModuleType):
        def __getattr__(self, name: str) -> Any:
            import numpy as loaded

            # numpy loads some of its modules, such as random, when they are first used.
            vars(self).update(vars(loaded), __getattr__=partial(getattr, loaded))
            self.__class__ = ModuleType
            return getattr(loaded, name)

    np = _Unloaded("numpy")
    Array = ArrayLike = Bools = Floats = Int64s = Ints = NDArray = Any
