"""Sums of clipped gradients of PyTorch networks without the gradients of large layers: norms layer by layer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..numerics.lazy_numpy import Array, np

__all__ = ["LayerSums"]

_TOGETHER = 128  # examples at once: enough for the matrix products, few enough for the cache


@dataclass(slots=True, eq=False)
class LayerSums:
    """Sums of clipped gradients of a network of linear and convolutional layers; about four times faster than ``vmap``.

    One pass forward and one back give what goes into each layer and the error that comes back. The gradient of one
    example is their outer product for a linear layer, which is never made: its norm is the product of two norms. For a
    convolution, which has few parameters, it is the product of the patches of the image and the errors.
    """

    module: Any
    clip: float
    _layer_io: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # what goes in, and what comes out

    def fits(self, x: Array) -> bool:
        """Return whether every parameter belongs to such a layer, and each layer is used once, on rows or images."""
        from torch import nn

        layers = [(name, part) for name, part in self.module.named_modules() if list(part.parameters(recurse=False))]
        if not layers or any(type(part) not in (nn.Linear, nn.Conv2d) for _, part in layers):
            return False
        parameters = [one for _, part in layers for one in part.parameters()]
        plain = all(part.groups == 1 and part.padding_mode == "zeros" for _, part in layers if type(part) is nn.Conv2d)
        whole = all(not isinstance(part.padding, str) for _, part in layers if type(part) is nn.Conv2d)
        if not plain or not whole or len({id(one) for one in parameters}) != len(parameters):
            return False
        calls = self._forward(x[:1])[1]
        dimensions = {nn.Linear: 2, nn.Conv2d: 4}
        return calls == len(layers) == len(self._layer_io) and all(
            self._layer_io[name][0].ndim == dimensions[type(part)] for name, part in layers
        )

    def _forward(self, x: Array) -> tuple[Any, int]:
        """Run the network, note what each layer gets and gives, and return the scores and how often layers were run."""
        import torch

        self._layer_io.clear()
        calls = []
        handles = []
        for name, part in self.module.named_modules():
            if not list(part.parameters(recurse=False)):
                continue

            def note(_: Any, inputs: Any, out: Any, name: str = name) -> None:
                calls.append(name)
                self._layer_io[name] = (inputs[0].detach(), out)

            handles.append(part.register_forward_hook(note))
        try:
            return self.module(torch.from_numpy(x)), len(calls)
        finally:
            for handle in handles:
                handle.remove()

    def summed(self, x: Array, y: Array) -> dict[str, Any]:
        """Return for each parameter the sum of the clipped gradients of the examples."""
        import torch

        total = {name: torch.zeros_like(one) for name, one in self.module.named_parameters()}
        for at in range(0, x.shape[0], _TOGETHER):
            self._add(total, x[at : at + _TOGETHER], y[at : at + _TOGETHER])
        return total

    def _add(self, total: dict[str, Any], x: Array, y: Array) -> None:
        import torch
        from torch import nn

        classes = torch.from_numpy(np.asarray(y, dtype=np.int64))
        with torch.enable_grad():
            loss = nn.functional.cross_entropy(self._forward(x)[0], classes, reduction="sum")
            names = list(self._layer_io)
            errors = torch.autograd.grad(loss, [self._layer_io[name][1] for name in names])
        parts, squares = {}, torch.zeros(x.shape[0])
        for name, error in zip(names, errors, strict=True):
            layer, layer_input = self.module.get_submodule(name), self._layer_io[name][0]
            biased = layer.bias is not None
            if isinstance(layer, nn.Linear):
                parts[name] = (layer_input, error)
                squares += (layer_input.square().sum(dim=1) + float(biased)) * error.square().sum(dim=1)
            else:
                shape = {"dilation": layer.dilation, "padding": layer.padding, "stride": layer.stride}
                patches = nn.functional.unfold(layer_input, layer.kernel_size, **shape)
                errors_at = error.flatten(2)
                parts[name] = (torch.bmm(errors_at, patches.transpose(1, 2)).flatten(1), errors_at.sum(dim=2))
                squares += sum(part.square().sum(dim=1) for part in parts[name][: 1 + biased])
        factors = (self.clip / squares.sqrt().clamp(min=torch.finfo(squares.dtype).tiny)).clamp(max=1.0)
        for name, (first, second) in parts.items():
            layer = self.module.get_submodule(name)
            if isinstance(layer, nn.Linear):
                scaled = second * factors[:, None]
                weight, bias = scaled.T @ first, scaled.sum(dim=0)
            else:
                weight, bias = factors @ first, factors @ second
            total[_parameter_name(name, "weight")] += weight.reshape(layer.weight.shape)
            if layer.bias is not None:
                total[_parameter_name(name, "bias")] += bias


def _parameter_name(layer: str, parameter: str) -> str:
    return f"{layer}.{parameter}" if layer else parameter
