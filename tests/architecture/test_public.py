"""Examples, documents, benchmarks and copied Python use public names only; the reference lists the public modules."""

from __future__ import annotations

import ast
import importlib
import inspect
import re

import pytest

from dpradar.web.copy_as import assess_copies, attack_copies, calibrate_copies, compare_copies, comparison_spec
from tests.console import DOCUMENTS, ROOT

_TABLE = re.search(
    r"^\| module \| for \|\n(.*?)\n\n",
    (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8"),
    re.M | re.S,
)
PUBLIC = {"dpradar", *re.findall(r"`(dpradar[\w.]+)`", _TABLE[1])}
FILES = [path for folder in ("examples", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]
BLOCK = re.compile(r"^[ ]*```python\n(.*?)^[ ]*```", flags=re.M | re.S)


def _is_public(module: str, name: str) -> bool:
    return f"{module}.{name}" in PUBLIC or (module in PUBLIC and name in importlib.import_module(module).__all__)


def _imports(tree: ast.AST) -> tuple[list[str], dict[str, str]]:
    """Return the imports of dpradar that are not public, and the public modules by the names they have in the code."""
    wrong, modules = [], {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.name.partition(".")[0] == "dpradar":
                    wrong += [] if one.name in PUBLIC else [one.name]
                    modules[one.asname or one.name.partition(".")[0]] = one.name if one.asname else "dpradar"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "dpradar":
            for one in node.names:
                wrong += [] if _is_public(node.module, one.name) else [f"{node.module}.{one.name}"]
                if f"{node.module}.{one.name}" in PUBLIC:
                    modules[one.asname or one.name] = f"{node.module}.{one.name}"
    return wrong, modules


def internal_names(code: str) -> list[str]:
    """Return the names of dpradar that a piece of Python uses although they are not public."""
    tree = ast.parse(code)
    wrong, modules = _imports(tree)
    for node in ast.walk(tree):
        path, inner = [], node
        while isinstance(inner, ast.Attribute):
            path, inner = [inner.attr, *path], inner.value
        if not path or not isinstance(inner, ast.Name) or inner.id not in modules:
            continue
        module = modules[inner.id]
        while len(path) > 1 and f"{module}.{path[0]}" in PUBLIC:
            module, path = f"{module}.{path[0]}", path[1:]
        if not _is_public(module, path[0]):
            wrong.append(f"{module}.{path[0]}")
    return sorted(set(wrong))


@pytest.mark.parametrize("module", sorted(PUBLIC))
def test_public_modules_say_what_is_public(module):
    public = importlib.import_module(module)
    assert public.__all__
    assert inspect.getdoc(public)
    assert all(hasattr(public, name) for name in public.__all__)


def test_examples_and_benchmarks_use_public_names():
    assert {path.name for path in FILES} > {"health_survey.py", "web.py"}
    assert {str(p.relative_to(ROOT)): w for p in FILES if (w := internal_names(p.read_text(encoding="utf-8")))} == {}


def test_documents_use_public_names():
    wrong = {}
    for path in DOCUMENTS:
        for block in BLOCK.findall(path.read_text(encoding="utf-8")):
            if names := internal_names(inspect.cleandoc(block) if block.startswith(" ") else block):
                wrong.setdefault(str(path.relative_to(ROOT)), []).extend(names)
    assert wrong == {}


QUESTIONS = [
    {"kind": "grr", "m": 20, "epsilon": 1.0, "times": 3},
    {"kind": "laplace", "scale": 2.0, "values": "0:9", "goal": "within:1"},
    {"kind": "gaussian", "sigma": 2.0, "values": "0:1", "prior": "continuous:beta:2,3", "goal": "within:0.1"},
    {"kind": "dp", "epsilon": 1.0, "delta": 1e-5, "neighbours": "add-remove", "membership": 0.5},
    {"kind": "channel", "matrix": [[0.75, 0.25], [0.25, 0.75]]},
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["kind"])
def test_copied_python_uses_public_names(question):
    release = {
        name: value for name, value in question.items() if name in ("matrix", "epsilon", "scale", "sigma", "delta")
    }
    compared = {"releases": [{"kind": question["kind"], "options": release}], "threat": {"worst": True}, "title": ""}
    if question["kind"] in ("grr", "dp"):
        compared["releases"][0]["options"] |= {"m": 20} if question["kind"] == "grr" else {"neighbours": "add-remove"}
    copies = [*assess_copies(question), *compare_copies(comparison_spec(compared))]
    if question["kind"] != "dp":
        copies += attack_copies(question, trials=1000, seed=1, maximise="rad")
    if question["kind"] != "channel":
        copies += calibrate_copies(question, [{"rad": 0.1}], None)
    codes = [copy.text for copy in copies if copy.title == "Python"]
    assert len(codes) >= 3
    for code in codes:
        assert code.startswith("import dpradar as dr\n")
        assert internal_names(code) == []


def test_an_internal_name_is_noticed():
    assert internal_names("from dpradar.bounds.rad import knapsack") == ["dpradar.bounds.rad.knapsack"]
    assert internal_names("import dpradar.numerics.special") == ["dpradar.numerics.special"]
    assert internal_names("import dpradar as dr\ndr.bounds.rules.RULES") == ["dpradar.bounds"]
    assert internal_names("from dpradar import correlated as co\nco.models.Chain") == ["dpradar.correlated.models"]
    assert internal_names("from dpradar.spec import parse, shapes") == ["dpradar.spec.shapes"]
    assert (
        internal_names("import dpradar as dr\nfrom dpradar.theorems import knapsack\ndr.data.prior(1)\nx.bounds") == []
    )
