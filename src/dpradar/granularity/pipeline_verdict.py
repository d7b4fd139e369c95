"""The verdict on a pipeline: the stated cost of its steps, and the findings of the linter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .claims.linting import findings_of
from .pipeline_accounting import account_costs

if TYPE_CHECKING:
    from ..results.accounting import Accounting
    from .pipeline import Pipeline

__all__ = ["account"]


def account(pipeline: Pipeline) -> Accounting:
    """Return what a pipeline costs under every granularity that it states, claims or asks for.

    Guarantee
    ---------
    Every number is an upper bound for every pipeline whose steps satisfy what is stated of them, also when later steps
    depend on earlier outputs. Infinite means that nothing follows.

    Assumes
    -------
    What is stated of the steps is true, they use independent randomness, and ``facts`` hold for every database. Where
    the rules of ``lint`` show that it is not, or that the claim does not follow, ``findings`` say so and the claim is
    not met, whatever the numbers are.

    Notes
    -----
    Doctoral thesis, Theorems 4.1, 4.6, 4.10, 4.11, 4.16, 4.18, 4.21, 4.22, Corollaries 4.2, 4.12, 4.17, 4.23, A.14
    (tightened), Propositions 4.7, A.3, A.7 (docs/derivations/granularity.md).

    Examples
    --------
    A histogram with two noisy counts: replacing a person changes two of them, adding one changes one.

    >>> from dpradar.granularity import Partition, Pipeline, Step, account
    >>> both = {"bounded": 0.5, "unbounded": 0.5}
    >>> steps = [Step(name=n, epsilon=both, partition="age", cell=n, domain="common") for n in ("young", "old")]
    >>> costs = account(Pipeline(steps=steps, partitions=[Partition(name="age", kind="value")]))
    >>> costs.total("bounded").epsilon, costs.total("unbounded").epsilon
    (1.0, 0.5)

    The sizes of the cells, each 0-DP when nobody joins or leaves, are not private at all (Example 2.16).

    >>> steps = [Step(name=n, epsilon=0.0, granularity="bounded", partition="age", cell=n) for n in ("young", "old")]
    >>> account(Pipeline(steps=steps, partitions=[Partition(name="age", kind="value")])).total("bounded").epsilon
    inf
    """
    accounting = account_costs(pipeline)
    # That the total is above the claim is what the numbers say themselves.
    against = tuple(one for one in findings_of(pipeline, accounting) if one.severity != "note" and one.rule != "total")
    return replace(accounting, findings=against, met=False if against and accounting.met else accounting.met)
