"""What holds for the code base as a whole."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dpradar as dr
from dpradar.bounds.rules import RULES
from tests.every import every

ROOT = Path(__file__).parents[2]
SOURCES = sorted(file for top in ("src", "reproduction/src") for file in (ROOT / top).rglob("*.py"))
TESTS = sorted(file for top in ("tests", "reproduction/tests") for file in (ROOT / top).rglob("test_*.py"))


def test_public_names_are_exactly_all():
    """The names are loaded on first use; those that type checkers see, that are promised and that load are the same."""
    tree = ast.parse((ROOT / "src" / "dpradar" / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {name.name for node in block.body for name in node.names}
    modules = {name for name in typed if inspect.ismodule(getattr(dr, name))}
    assert modules == {"correlated", "data", "notions", "spec"}
    assert typed - modules | {"__version__"} == set(dr.__all__)
    assert set(dr.__all__) <= set(dir(dr))
    for node in block.body:
        for name in node.names:
            module = importlib.import_module(f"dpradar.{node.module}" if node.module else f"dpradar.{name.name}")
            assert getattr(dr, name.name) is (getattr(module, name.name) if node.module else module)
    with pytest.raises(AttributeError, match="no attribute 'asess'"):
        _ = dr.asess


def test_import_is_light():
    heavy = ["matplotlib", "scipy.stats", "scipy.optimize", "click", "rich", "pydantic", "jinja2", "starlette"]
    code = f"import sys, dpradar; dpradar.spec.run; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    code = "import sys; from dpradar.cli import main; print([m for m in ['numpy', 'scipy'] if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _imported_at_the_top(tree: ast.Module) -> set[str]:
    """Return the packages that a module imports when it is loaded, of whatever it may be part."""
    nodes = [tree]
    for node in nodes:  # grows: what stands in classes and conditions runs too
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
            nodes += [child for child in ast.iter_child_nodes(node) if not isinstance(child, inner)]
        else:
            nodes += node.orelse
    plain = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    return {name.partition(".")[0] for name in plain | {n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)}}


@every("path", [path for path in SOURCES if "reproduction" not in path.parts], ids=lambda p: str(p.relative_to(ROOT)))
def test_no_module_loads_numpy_or_scipy_before_it_computes(path):
    """Those with described classes above all, which every ``--help`` loads; numpy is that of numerics/lazy_numpy."""
    assert not {"numpy", "scipy"} & _imported_at_the_top(ast.parse(path.read_text(encoding="utf-8")))


def test_numpy_is_loaded_by_the_first_name_and_costs_nothing_after_it():
    code = (
        "import sys, types; from dpradar.numerics.lazy_numpy import np; assert 'numpy' not in sys.modules; np.inf; "
        "import numpy; print(type(np) is types.ModuleType, np.exp is numpy.exp, np.random is numpy.random)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "True"]


@every("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_randomness_comes_from_generators(path):
    """ruff knows the older functions of numpy.random only where numpy is imported as such."""
    used = re.findall(r"np\.random\.([a-z]\w*)", path.read_text(encoding="utf-8"))
    assert set(used) <= {"default_rng"}


def test_rules_have_unique_names_and_a_title():
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert all(rule.title and rule.quantities for rule in RULES)


def test_every_cited_key_is_in_the_bibliography():
    keys = set(re.findall(r"@\w+\{(\w+)", (ROOT / "references.bib").read_text(encoding="utf-8")))
    cited = {key for rule in RULES for cite in rule.cites for key in re.findall(r"\[(\w+)\]", cite)}
    assert cited
    assert cited <= keys


@every("name", [n for n in dr.__all__ if n not in ("__version__",)])
def test_public_objects_are_documented(name):
    thing = getattr(dr, name)
    text = inspect.getdoc(thing) or ""
    assert text
    if not (inspect.isclass(thing) and issubclass(thing, Exception)):
        assert "Examples" in text


@every("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_source_files_stay_readable(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 420
    tree = ast.parse(text)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
            assert lines <= 60, f"{node.name} has {lines} lines"


@every("path", TESTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_test_files_have_tests(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tests = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name.startswith("test")]
    assert tests
