"""What can be said of an audit."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt

from ..attacks.attack_options import Seed  # noqa: TC001 (annotations are read)
from ..options import About, number_of

if TYPE_CHECKING:
    from ..options.reading import Options

__all__ = ["LOOKS", "SIGNIFICANCE", "TRIALS", "WORKERS", "AuditOptions"]

TRIALS = number_of(
    "trials", Annotated[int, Ge(100), Le(10**12), About("the total number of outputs to draw", typical=(1000, 1e6))]
)
SIGNIFICANCE = number_of(
    "significance",
    Annotated[
        float, Gt(0), Lt(1), About("the largest accepted probability of refuting a true claim", typical=(0.001, 0.1))
    ],
)
LOOKS = number_of(
    "looks",
    Annotated[int, Ge(1), Le(10**6), About("the number of interim looks of a sequential audit", typical=(1, 100))],
)
WORKERS = number_of(
    "workers", Annotated[int, Ge(1), Le(256), About("the number of threads that draw outputs", typical=(1, 8))]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Options of an audit; without a seed one is drawn and reported."""

    domain: Annotated[int, Ge(2), About("the number of values; the inputs are 0 .. domain-1")] | None = None
    one_value: Annotated[bool, About("whether the sampler takes one value at a time, not an array of them")] = False
    output_kind: Annotated[
        Literal["auto", "categorical", "real", "bits", "subset", "vector"],
        About("the type of the outputs; auto decides from the outputs"),
    ] = "auto"
    trials: Annotated[int, TRIALS] = 100_000
    significance: Annotated[
        float,
        SIGNIFICANCE,
        About(SIGNIFICANCE.what, "0.05", slider=SIGNIFICANCE.typical, label="risk of a false alarm (significance)"),
    ] = 0.05
    sequential: Annotated[bool, About("whether to stop as soon as the claim is refuted")] = False
    looks: Annotated[int, LOOKS] = 50
    seed: Seed | None = None

    @classmethod
    def of(cls, options: Options) -> AuditOptions:
        """Return the options that are about an audit; those that are not given have their defaults."""
        given = {field.name: options.get(field.name) for field in fields(cls)}
        return cls(**{name: value for name, value in given.items() if value is not None})

    @property
    def of_samplers(self) -> dict[str, Any]:
        """What ``audit`` takes where outputs are drawn."""
        settings = asdict(self)
        settings["vectorised"] = False if settings.pop("one_value") else None
        return settings

    @property
    def of_logs(self) -> dict[str, Any]:
        """What ``audit`` takes where the outputs are there already."""
        settings = asdict(self)
        for name in ("domain", "one_value", "output_kind"):
            del settings[name]
        return settings
