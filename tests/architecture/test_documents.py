"""The documents: their Python runs, their links lead somewhere, and they name every rule and every public name."""

from __future__ import annotations

import ast
import importlib
import math
import re
from typing import TYPE_CHECKING, Any

import click
import pytest

import dpradar as dr
from dpradar.bounds.rules import RULES
from dpradar.cli.doctor import EXTRAS
from dpradar.cli.main import app
from dpradar.present.glossary import TERMS
from tests.console import DOCUMENTS, ROOT, is_story, prepare
from tests.every import every

if TYPE_CHECKING:
    from pathlib import Path

DERIVATIONS = ROOT / "docs" / "derivations"
MODULES = ("audits", "campaigns", "correlated", "data", "learning", "notions", "plugins", "spec", "theorems")


def _blocks(path: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), flags=re.M | re.S)


_NUMBER = re.compile(r"(-?\d+\.\d+)(\.\.\.)?")


def _run(block: str, place: str, names: dict[str, Any]) -> None:
    """Run a block, and compare what its last words say, such as ``a.rad.value  # 0.0594...``, with what comes out."""
    lines = block.splitlines()
    for statement in ast.parse(block).body:
        comment = lines[statement.end_lineno - 1][statement.end_col_offset :].strip()
        code = ast.get_source_segment(block, statement)
        if isinstance(statement, ast.Expr) and re.match(r"# *-?\d+\.\d", comment):
            value = eval(compile(code, place, "eval", dont_inherit=True), names)  # noqa: S307 - our own docs
            numbers = [one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, float)]
            parts = _NUMBER.findall(re.sub(r"'[^']*'", "", comment).partition(";")[0])
            assert len(parts) == len(numbers), (place, comment)
            for (text, cut), number in zip(parts, numbers, strict=True):
                digits = len(text.partition(".")[2])
                near = math.trunc(number * 10**digits) / 10**digits if cut else round(number, digits)
                assert near == pytest.approx(float(text), abs=1e-12), (place, comment, number)
        else:
            exec(compile(ast.Module([statement], []), place, "exec", dont_inherit=True), names)  # noqa: S102


@pytest.mark.parametrize("path", [p for p in DOCUMENTS if _blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_python_in_documents_runs(path, monkeypatch, tmp_path):
    prepare(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    for folder in (str(ROOT), str(tmp_path)):
        monkeypatch.syspath_prepend(folder)
    names = {"__name__": "__doc__"}
    for number, block in enumerate(_blocks(path)):
        names = names if is_story(path) else {"__name__": "__doc__"}
        _run(block, f"{path.name} block {number}", names)
    assert _blocks(path)


@every("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_documents_exist(path):
    links = re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    missing = [link for link in links if not (path.parent / link).exists()]
    assert missing == []


def test_every_page_is_reached_from_the_first_one():
    reached, open_pages = set(), [ROOT / "docs" / "index.md"]
    while open_pages:
        page = open_pages.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        links = re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        open_pages += [(page.parent / link).resolve() for link in links]
    assert {path for path in DOCUMENTS if path.name != "README.md"} <= reached


def _rows() -> dict[str, list[str]]:
    lines = (DERIVATIONS / "index.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    return {row[0].strip("`"): row for row in cells}


def test_the_table_of_rules_has_one_row_for_each():
    lines = (DERIVATIONS / "index.md").read_text(encoding="utf-8").splitlines()
    assert sorted(line.split("`")[1] for line in lines if line.startswith("| `")) == sorted(r.name for r in RULES)


@every("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_has_a_derivation(rule):
    row = _rows()[rule.name]
    pages = re.findall(r"\]\(([\w-]+\.md)\)", row[1])
    texts = [(DERIVATIONS / page).read_text(encoding="utf-8") for page in pages]
    assert any(f"`{rule.name}`" in text for text in texts), f"no page named in its row derives `{rule.name}`"
    assert rule.cites or rule.name == "trivial"  # which holds for every mechanism, by definition


@every("rule", RULES, ids=lambda rule: rule.name)
def test_the_table_of_rules_names_the_source(rule):
    source = _rows()[rule.name][2]
    for cite in rule.cites:
        # Theorem 4.3 stands above its table, for all engines.
        source_name = "ours" if cite == "dpradar derivation" else cite.removeprefix("[RAD] ").removeprefix("[UNIFY] ")
        assert source_name in source or cite == "[RAD] Theorem 4.3", f"{cite} is not in the row of `{rule.name}`"


def _documented() -> set[str]:
    """Return the full names that the reference documents; a module stands for its public names."""
    pages = [p.read_text(encoding="utf-8") for p in (ROOT / "docs" / "reference").glob("*.md")]
    directives = {
        (kind, name) for page in pages for kind, name in re.findall(r"^\.\. auto(\w+):: ([\w.]+)", page, re.M)
    }
    modules = [name for kind, name in directives if kind == "module"]
    inside = {f"{name}.{public}" for name in modules for public in importlib.import_module(name).__all__}
    return {name for _, name in directives} | inside


@every("name", dr.__all__)
def test_every_public_name_is_in_the_reference(name):
    assert f"dpradar.{name}" in _documented()


@every("module", MODULES)
def test_every_name_of_a_public_module_is_in_the_reference(module):
    public = importlib.import_module(f"dpradar.{module}")
    elsewhere = {f"dpradar.{module}.{name}" for name in public.__all__ if name in dr.__all__}
    assert {f"dpradar.{module}.{name}" for name in public.__all__} <= _documented() | elsewhere


@every("word", TERMS)
def test_the_glossary_says_what_explain_says(word):
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    entry = re.search(rf"^{word}\n(?:\S.*\n)*    (.*)$", page, flags=re.M)
    assert entry is not None, f"{word} is not in the glossary"
    assert entry[1].startswith(TERMS[word])


def _options(command: click.Command) -> set[str]:
    """Return the long names of all options of a command and of those below it."""
    options = {name for param in command.params for name in param.opts if name.startswith("--")}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            options |= _options(command.get_command(context, name))
    return options


def test_every_option_is_on_some_page():
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    options = _options(app)
    assert {"--epsilon", "--claim-delta", "--store", "--port"} <= options  # of groups, commands and their commands
    assert sorted(options - set(re.findall(r"--[a-z][a-z-]*", text))) == []


@every("extra", EXTRAS)
def test_every_extra_is_on_the_page_of_the_command_line(extra):
    page = (ROOT / "docs" / "how-to" / "use-the-command-line.md").read_text(encoding="utf-8")
    assert f"\n| `{extra}` |" in page


@every("path", sorted((ROOT / "docs" / "pictures").iterdir()), ids=lambda p: p.name)
def test_pictures_are_small_and_shown(path):
    assert path.stat().st_size < 150_000
    assert any(f"pictures/{path.name})" in page.read_text(encoding="utf-8") for page in DOCUMENTS)
