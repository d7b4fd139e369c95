"""Options are named by the class that describes them; what reads and writes them asks it and has no list of its own."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache

import pytest

from dpradar.campaigns.campaign_tables import campaign_file
from dpradar.options.tables import Nested
from dpradar.results.bound import QUANTITIES
from dpradar.spec.file_tables import spec_file
from dpradar.spec.pipeline_tables import pipeline_file
from dpradar.spec.release_kinds import KINDS
from tests.architecture.source_trees import described_in, describes, library_trees

# What reads and writes options by name. Below it an option is a field, or an argument of a function.
ADAPTERS = ("campaigns", "cli", "spec", "web")
# Names that are first of all something else: the key that says of which class a table is, what people call a thing,
# a place where options are given, and what results hold. Flags such as --file count all the same.
OTHER_WORDS = {"kind", "error", "file", "name", "rule", "title", *QUANTITIES}
SAVED = {"campaigns/stored_campaign.py"}  # its fields, like those of results, are read back, not asked for
# Texts that are spelled like an option of another module, or that only this module is about.
ALLOWED = {
    # Columns of the store and of exported tables, keys of what is printed as JSON, the name of an extra.
    "campaigns/campaign_status.py": {"note", "seed", "trials"},
    "campaigns/export.py": {"baseline", "confidence", "data", "looks", "seed", "significance", "strategy", "trials"},
    "campaigns/store.py": {"data", "size", "trials"},
    "campaigns/stored_campaign.py": {"note", "seed", "trials"},
    "cli/assess.py": {"tpr"},
    "cli/doctor.py": {"data"},
    # What a screen asks a worker for, and fields of the screen itself.
    "web/screens/assess_screen.py": {"data"},
    "web/screens/attack_screen.py": {"data"},
    "web/screens/calibrate_screen.py": {"data"},
    "web/screens/compare_screen.py": {"columns", "data"},
    "web/screens/learn_screen.py": {"data"},
    "web/screens/start_page.py": {"columns", "seed"},  # the address of an example, as someone would type it
    # Tables of files.
    "spec/checks.py": {"utility"},
    "spec/file_tables.py": {"utility"},
    "spec/pipeline_tables.py": {"data", "partition"},
    "spec/read.py": {"results", "utility"},
    "spec/write.py": {"results", "utility"},
    # Other words: a layer, a noun, arguments of functions, a way to paste, a group of releases, a status.
    "campaigns/campaign_tables.py": {"size"},
    "cli/attack.py": {"mechanism"},
    "spec/threat_options.py": {"confidence", "domain", "scale"},
    "web/forms/fields.py": {"columns"},
    "web/forms/question_fields.py": {"noise"},
    "web/noise_range.py": {"free"},
    # Steps and cells of a pipeline: this module alone takes them apart.
    "spec/pipeline.py": {"cell", "cells", "data", "mechanism", "partition"},
    # The one cost that depends on the number of reports.
    "spec/limits.py": {"frequency_error", "reports"},
    # What a first file says for people.
    "spec/starter_file.py": {"limit_source", "what"},
    # The seed that was drawn, added to the command that was typed.
    "cli/progress.py": {"seed"},
    # What people type although noise is described by its size, and what to type instead.
    "cli/release_options.py": {"delta", "epsilon", "scale", "sigma"},
    # How another command is continued.
    "cli/explain.py": {"kind"},
}


def _types_of_options(path, tree):
    """Return the names that stand for the type of an option in a module, whether it defines or imports them."""
    here = {
        node.targets[0].id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and describes(node.value)
    }
    imported = {
        (node.module or "").rpartition(".")[2]: {name.name for name in node.names}
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
    }
    elsewhere = {
        name
        for name, places in described_in().items()
        for place in places
        if name in imported.get(place.removesuffix(".py").rpartition("/")[2], ())
    }
    return {"Annotated"} | here | elsewhere


@cache
def declarations():
    """Return the modules that declare an option of each name: as the field of a class, or for a command alone."""
    modules = defaultdict(set)
    for path, tree in library_trees().items():
        types = _types_of_options(path, tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and path not in SAVED and not path.startswith("results/"):
                for field in node.body:
                    if isinstance(field, ast.AnnAssign):
                        names = {getattr(one, "id", "") for one in ast.walk(field.annotation)}
                        modules[field.target.id] |= {path} if names & types else set()
    return {name: places for name, places in modules.items() if places}


def _is_call(node, *names):
    return isinstance(node, ast.Call) and {getattr(node.func, "id", ""), getattr(node.func, "attr", "")} & set(names)


def _names(text):
    """Return what can be names of options in a text: all of it, or the end of a place, and flags within."""
    flags = {name.replace("-", "_") for name in re.findall(r"--([a-z][a-z-]*)", text)}
    return flags | {text.removeprefix(".").replace("-", "_")} - OTHER_WORDS


def _texts(node):
    return [one for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _not_names(tree):
    """Yield the texts that are no names of options: documentation, types, and what picks a description from a class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.AnnAssign):
            yield from _texts(node.annotation)
        elif _is_call(node, "options_in"):
            yield from _texts(node)


def option_literals(path, tree):
    """Return the names of options that stand in a module as texts, but for those that it declares itself."""
    own = {name for text in _own_texts(tree) for name in _names(text)}
    others = set(map(id, _not_names(tree)))
    names = {name for text in _texts(tree) if id(text) not in others for name in _names(text.value)}
    return {name for name in names & set(declarations()) if path not in declarations()[name]} - own


def _own_texts(tree):
    """Yield how a command calls the options that it alone has."""
    for node in ast.walk(tree):
        if _is_call(node, "option", "Option", "argument", "option_of"):
            texts = [text.value for argument in node.args for text in _texts(argument)]
            if texts and (texts[0].startswith("--") or _is_call(node, "argument", "option_of")):
                yield from texts


def test_every_option_of_a_file_or_a_release_is_among_them():
    groups = [*(kind.options for kind in KINDS.values()), *(table.options for table in _tables(spec_file()))]
    groups += [table.options for table in (*_tables(pipeline_file()), *_tables(campaign_file()))]
    names = {option.name for options in groups for option in options if not isinstance(option.shape, Nested)}
    assert names - set(declarations()) == {"do", "grid", "targets"}  # declared as keys of their tables
    assert declarations()["prior"] == {"spec/threat_options.py"}


def _tables(table):
    """Return a table and those inside it."""
    inner = [one for option in table.options for one in getattr(option.shape, "tables", ())]
    return [table, *(below for one in inner for below in _tables(one))]


def test_no_module_names_an_option_of_another_one():
    adapters = {path: tree for path, tree in library_trees().items() if path.partition("/")[0] in ADAPTERS}
    literals = {path: names for path, tree in adapters.items() if (names := option_literals(path, tree))}
    assert literals == ALLOWED


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ('options["prior"]', "prior"),
        ('options.get("claim_mu")', "claim_mu"),
        ('FLAGS("noise-multiplier")', "noise_multiplier"),
        ('f"{place}.neighbours"', "neighbours"),
        ('f"used with --domain, got {text}"', "domain"),
        ('_KEYS = ("sensitivity", "text")', "sensitivity"),
    ],
)
def test_a_new_name_is_noticed(code, name):
    assert option_literals("cli/assess.py", ast.parse(code)) == {name}


def test_a_command_may_name_what_it_declares_and_a_class_may_be_asked():
    declared = 'click.option("--prior", help="p1,p2")(print)\noptions["prior"]'
    for code in (declared, 'options_in(Limit, "fpr")', 'def f():\n    "prior"', 'aim: Literal["prior"] = None'):
        assert option_literals("cli/assess.py", ast.parse(code)) == set()
