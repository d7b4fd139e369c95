"""Many quick cases in one test: collected once, and a failure names every case that fails."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_LONGEST = 80
_FAILURES = (Exception, pytest.fail.Exception, BaseExceptionGroup)  # the last from another `every`


def _label(case: dict[str, Any], ids: Callable[[Any], str]) -> str:
    return ", ".join(f"{name}={ids(value)[:_LONGEST]}" for name, value in case.items())


def every(
    names: str | tuple[str, ...], cases: Iterable[Any], ids: Callable[[Any], str] | Iterable[str] = repr
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for every case, as `pytest.mark.parametrize` does, but as one test.

    Fixtures are shared by the cases. Above another `every`, each of its cases runs all of the other's.
    """
    names = (names,) if isinstance(names, str) else names
    listed = [dict(zip(names, case if len(names) > 1 else (case,), strict=True)) for case in cases]
    labels = [_label(case, ids) for case in listed] if callable(ids) else list(ids)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*args: Any, **kwargs: Any) -> None:
            failures, places = [], []
            for case, label in zip(listed, labels, strict=True):
                try:
                    test(*args, **kwargs, **case)
                except _FAILURES as error:
                    places.append(label)
                    error.add_note(f"in the case {label}")
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(listed)} cases fail: {'; '.join(places)}", failures)

        signature = inspect.signature(test)
        rest = [parameter for name, parameter in signature.parameters.items() if name not in names]
        run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]  # pytest fills these
        return run

    return decorate
