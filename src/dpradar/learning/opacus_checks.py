"""What a recorder can be given: an optimiser, a model, candidates and a loader of Opacus that it understands."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from ..errors import MissingExtra, ParameterError
from ..numerics.lazy_numpy import np
from ..params import Param, shown
from .gradient_scores import RATE

__all__ = [
    "accountant_of",
    "check_model",
    "check_optimizer",
    "checked_before",
    "checked_candidates",
    "checked_rate",
    "checked_target",
    "shape_of",
    "steps_of",
]

_BEFORE = Param(name="steps_before", integer=True, low=0, what="the steps of this training that are not recorded")


def shape_of(value: Any) -> str:
    """Return the shape of a table, or what it is instead."""
    return str(tuple(value.shape)) if hasattr(value, "shape") else type(value).__name__


def check_optimizer(optimizer: Any) -> None:
    """Raise unless it is a DPOptimizer with flat clipping."""
    try:
        from opacus.optimizers import DPOptimizer
    except ImportError:
        raise MissingExtra("opacus", "torch") from None
    kind = type(optimizer)
    if not isinstance(optimizer, DPOptimizer):
        hint = "Make the recorder after privacy_engine.make_private, with the optimiser that it returns."
        raise ParameterError("Recorder.optimizer", "the DPOptimizer of Opacus", kind.__name__, hint)
    if kind is not DPOptimizer:
        hint = "Per-layer, adaptive and ghost clipping, and distributed training, are not supported."
        raise ParameterError("Recorder.optimizer", "one with flat clipping (clipping='flat')", kind.__name__, hint)


def check_model(module: Any) -> None:
    """Raise for models whose gradients cannot be computed again."""
    from torch import nn

    if not module.training:
        raise ParameterError("Recorder.model", "in training mode", "eval mode", "Call model.train() first.")
    dropouts = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)
    if any(isinstance(part, dropouts) and part.p > 0.0 for part in module.modules()):
        hint = "With it the gradient of a record is random, and another one when it is computed again."
        raise ParameterError("Recorder.model", "without dropout", "a model with it", hint)


def checked_candidates(candidates: Any, like: Any) -> tuple[Any, Any]:
    """Return examples and classes as tensors like the parameters."""
    import torch

    allowed = "(examples, classes), two tensors with one row for each of at least 2 candidates"
    if not isinstance(candidates, Sequence) or len(candidates) != 2:
        raise ParameterError("Recorder.candidates", allowed, shape_of(candidates))
    try:
        x, y = (torch.as_tensor(part).detach().clone() for part in candidates)
    except (TypeError, ValueError, RuntimeError):
        raise ParameterError("Recorder.candidates", allowed, "something else") from None
    if x.ndim < 2 or y.ndim < 1 or x.shape[0] < 2 or x.shape[0] != y.shape[0]:
        raise ParameterError("Recorder.candidates", allowed, f"shapes {shape_of(x)} and {shape_of(y)}")
    if x.is_floating_point():
        x = x.to(like.dtype)
        if not bool(torch.isfinite(x).all()):
            raise ParameterError("Recorder.candidates", "finite numbers", "nan or infinite ones")
    return x.to(like.device), y.to(like.device)


def checked_target(target: Any, candidates: int) -> int | None:
    """Return the number of the target, or None."""
    if target is None:
        return None
    if isinstance(target, bool) or not isinstance(target, (int, np.integer)) or not 0 <= target < candidates:
        raise ParameterError("Recorder.target", f"a number from 0 to {candidates - 1}, or None", shown(target))
    return int(target)


def checked_rate(loader: Any, sample_rate: float | None) -> float:
    """Return the rate of the Poisson sampling: that of the loader, or the one that is given without one."""
    of_loader = getattr(loader, "sample_rate", None)
    if loader is None and sample_rate is not None:
        return RATE.check("Recorder", sample_rate)
    if of_loader is None:
        hint = "That of make_private has one, unless poisson_sampling is False, for which no bound is known here."
        allowed = "the Poisson-sampling loader that make_private returns, or left out with sample_rate= given"
        raise ParameterError("Recorder.loader", allowed, type(loader).__name__, hint)
    if sample_rate is not None and sample_rate != of_loader:
        raise ParameterError(
            "Recorder.sample_rate", f"{of_loader:g}, that of the loader, or left out", shown(sample_rate)
        )
    return RATE.check("Recorder", float(of_loader))


def accountant_of(hook: Any) -> Any:
    """Return the accountant that a step hook reports to, through other recorders; None where there is none."""
    if hasattr(owner := getattr(hook, "__self__", None), "_accountant"):  # another recorder
        return owner._accountant  # type: ignore[union-attr]
    # What make_private attaches is a closure over the accountant.
    return inspect.getclosurevars(hook).nonlocals.get("self") if inspect.isfunction(hook) else None


def steps_of(accountant: Any) -> int:
    """Return how many steps an accountant lists."""
    return sum(int(entry[2]) for entry in getattr(accountant, "history", ()))


def checked_before(hook: Any, before: int | None, accounted: int) -> int:
    """Return the steps made before the first that is recorded; where the accountant has seen some, they must be stated.

    An accountant may have seen another training as well, which cannot be detected here.
    """
    if before is not None:
        return int(_BEFORE.check("Recorder", before))
    if hasattr(owner := getattr(hook, "__self__", None), "released"):  # another recorder, which counts them
        return int(owner.released)  # type: ignore[union-attr]
    if accounted:
        hint = (
            f"steps_before={accounted} if they belong to this training, which then released them too; 0 if to another."
        )
        raise ParameterError(
            "Recorder.steps_before", "given", f"nothing, and an accountant with {accounted} steps", hint
        )
    return 0
