"""The modules of the library, parsed, and where each option is described in them."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache

from tests.console import ROOT

SOURCE = ROOT / "src" / "dpradar"


@cache
def library_trees():
    """Return every module of the library, parsed when the first test asks: not while tests are collected."""
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def describes(node):
    """Whether an annotation or a value says what an option is."""
    return any(isinstance(one, ast.Call) and getattr(one.func, "id", "") == "About" for one in ast.walk(node))


@cache
def described_in():
    """Return where each option, or the type that options share, is described."""
    places = defaultdict(list)
    for path, tree in library_trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and describes(node.annotation):
                places[node.target.id].append(path)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and describes(node.value):
                places[node.targets[0].id].append(path)
    return places
