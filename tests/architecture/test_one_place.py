"""Facts that used to be declared in several places: each names its one place, and new repetitions are noticed."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from tests.architecture.source_trees import described_in, library_trees

# Once declared in up to 15 modules.
ONCE = {
    "Times": "mechanisms/composed.py",
    "Truncate": "mechanisms/noise/noise_options.py",
    "Sensitivity": "mechanisms/noise/noise_options.py",
    "m": "spec/threat_options.py",
    "prior": "spec/threat_options.py",
    "goal": "spec/threat_options.py",
}
# One word for options of different things: the noise of two classes, columns of two files, the steps of a pipeline.
SHARED = {
    *("scale", "sigma", "Epsilon", "_Loss", "_EPSILON", "_SIZE"),
    *("data", "records", "knowledge", "mechanism", "name", "fpr", "domain", "TRIALS"),
}


@pytest.mark.parametrize("name", ONCE)
def test_an_option_is_described_in_one_place(name):
    assert described_in()[name] == [ONCE[name]]


def test_no_other_option_is_described_twice():
    described = described_in()
    twice = {name for name, places in described.items() if len(places) > 1}
    assert twice <= SHARED, {name: described[name] for name in twice - SHARED}


def test_few_public_class_names_mean_two_things():
    places = defaultdict(list)
    for path, tree in library_trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    # Pages have findings, limits, lines, sections and tables as results, files and forms have them.
    allowed = {"Finding", "Limit", "Table"}
    assert {name for name, paths in places.items() if len(paths) > 1} <= allowed


def test_the_kinds_of_releases_are_listed_once():
    names = {"GRR", "SUE", "OUE", "BLH", "OLH"}
    lists = [
        path
        for path, tree in library_trees().items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict))
        and len(names & {getattr(one, "id", None) or getattr(one, "attr", None) for one in ast.walk(node)}) >= 3
    ]
    assert set(lists) <= {"spec/release_kinds.py"}
