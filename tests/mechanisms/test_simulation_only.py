"""Samplers are for simulation only: everything that uses or offers them says so, and names what to use instead."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import numpy as np
import pytest

import dpradar as dr
from dpradar import granularity, mechanisms

ROOT = Path(__file__).parents[2]
LIBRARIES = ("OpenDP", "Google's differential-privacy libraries", "Tumult Analytics")
WHERE_SHOWN = (
    "README.md",
    "docs/how-to/attack.md",
    "docs/how-to/describe-a-mechanism.md",
    "docs/reference/mechanisms.md",
)


def samplers() -> list[tuple[str, str]]:
    """Every method ``sample`` of a class in dpradar.mechanisms, with its docstring."""
    names = [module.name for module in pkgutil.walk_packages(mechanisms.__path__, "dpradar.mechanisms.")]
    classes = {
        member
        for name in names
        if "adapters" not in name
        for _, member in inspect.getmembers(importlib.import_module(name), inspect.isclass)
        if member.__module__.startswith("dpradar.mechanisms") and "sample" in vars(member)
    }
    return sorted(
        (f"{one.__module__}.{one.__qualname__}", one.sample.__doc__)
        for one in classes
        if inspect.isfunction(vars(one)["sample"])
    )


def test_every_sampler_says_so():
    docstrings = samplers()
    assert len(docstrings) > 10
    assert [name for name, text in docstrings if "for simulation only" not in (text or "")] == []


def test_an_attack_says_so(tmp_path):
    run = dr.attack(dr.Laplace(1.0), dr.Threat(dr.Prior.uniform(2)), trials=100, seed=1)
    run.report(tmp_path / "run.md")
    views = (run.explain(), " ".join(run.to_dict()["notes"]), (tmp_path / "run.md").read_text(encoding="utf-8"))
    for text in views:
        assert "for simulation only" in text
        assert all(name in text for name in LIBRARIES)


def test_a_measured_attack_on_something_else_does_not():
    run = dr.measure([True, False, True], [False, False, True])
    assert "simulation" not in run.explain()


def test_frequencies_say_so():
    grr = dr.GRR(3, 1.0)
    estimates = dr.frequencies(grr, grr.at(None).sample(np.array([0, 1, 2]), np.random.default_rng(1)))
    for text in (repr(estimates), " ".join(estimates.notes), dr.frequencies.__doc__):
        assert all(name in " ".join(text.split()) for name in LIBRARIES)


@pytest.mark.parametrize("page", WHERE_SHOWN)
def test_documents_say_so(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "simulat" in text
    assert all(name in text for name in ("OpenDP", "Google's differential-privacy libraries", "Tumult Analytics"))


def test_why():
    """The figure of README: low bits of our own noise refute the claim that the noise itself keeps."""
    sample, claim = dr.Laplace(1.0, query=[0, 1]).at(None).sample, dr.PureDP(1.0, neighbours="replace-one")
    report = granularity.lint_sampler(sample, claim=claim, domain=2, trials=60_000, seed=1)
    assert report.refuted
    assert 5.6 < report.findings[0].evidence.epsilon_lower < 5.7
    assert "epsilon at least 5.6 where 1 is claimed" in (ROOT / "README.md").read_text(encoding="utf-8")
