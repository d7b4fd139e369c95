"""The corpus asks about everything there is: rules, mechanisms, guarantees, threats, results, commands, engines.

The lists are those of the code, so that what is new is missed here.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections import Counter
from collections.abc import Callable, Hashable
from fnmatch import fnmatchcase
from typing import Any, get_args, get_type_hints

import pytest
from numpy.typing import NDArray

import dpradar.bounds.exact
from dpradar import guarantees, mechanisms
from dpradar.bounds.rules import RULES
from dpradar.cli.main import COMMANDS, app
from dpradar.results import loading
from dpradar.results.bound import QUANTITIES
from dpradar.threats import Goal, Knowledge, Threat
from tests.numbers.asking import ask
from tests.numbers.corpus import read_corpus
from tests.numbers.questions import QUESTIONS

CORPUS = read_corpus()

# Rules that do not win twice, and why they cannot be made to.
SELDOM_WINS = {
    "simulation": "a lower bound, beside the answer",
    "prop-5.3": "never below the smaller of thm-5.1-interval and thm-4.2; ahead of them by rounding only",
    "zcdp": "rdp gives the same number and comes first",
    "thesis-thm-8": "as tight as thm-4.2 or knapsack-root at best; ahead of them by rounding only",
    "thesis-cor-2": "root-bound is never looser and comes first (docs/derivations/root-bound.md)",
}
# Exit codes that a command has, and that no question can bring about.
NO_QUESTION = {
    ("reproduce", 3): "needs the reproduction of every figure",
}


def noted(what: str) -> set[str]:
    """Return what the questions of the corpus are about."""
    return {word for answer in CORPUS.values() for word in answer.get("about", {}).get(what, ())}


def test_every_question_is_in_the_corpus():
    assert set(CORPUS) == set(QUESTIONS), "run: make numbers ARGS=--accept"


def winners() -> Counter[str]:
    rules: Counter[str] = Counter()
    for answer in CORPUS.values():
        rules.update({answer[name]["rule"] for name in QUANTITIES if "rule" in answer.get(name, {})})
    return rules


def test_every_rule_wins_twice():
    won = winners()
    # Ahead by rounding only, a rule that seldom wins may win on another processor.
    assert {rule.name for rule in RULES if won[rule.name] < 2} <= set(SELDOM_WINS)
    assert set(SELDOM_WINS) <= {rule.name for rule in RULES}


def described(module, ability: str) -> set[str]:
    """Return the classes of a module that have a method: those that can be assessed."""
    classes = {name: value for name in module.__all__ if inspect.isclass(value := getattr(module, name))}
    return {name for name, value in classes.items() if callable(getattr(value, ability, None))}


def kinds(what: type) -> set[str]:
    """Return the kinds that a class allows."""
    names = {"Hashable": Hashable, "Callable": Callable, "NDArray": NDArray, "Any": Any}
    return set(get_args(get_type_hints(what, localns=names)["kind"]))


def test_every_mechanism_and_guarantee_is_asked_about():
    kinds_described = described(mechanisms, "at") | described(guarantees, "privacy")
    assert {"GRR", "Laplace", "DPSGD", "PureDP", "Profile"} <= kinds_described
    assert kinds_described <= noted("release")


def test_every_kind_of_threat_is_asked_about():
    assert kinds(Threat) - {"record"} <= noted("threat")
    questions = set(CORPUS)
    for prior in ("uniform", "probabilities", "records", "counted", "continuous"):
        for known in kinds(Knowledge):
            for goal in kinds(Goal):
                assert f"threat/{prior}/{known}/{goal}" in questions
                valid = "error" not in CORPUS[f"threat/{prior}/{known}/{goal}"]
                assert not valid or f"{prior}/{known}/{goal}" in noted("threat")


def test_every_kind_of_result_is_read_back():
    assert {kind.schema() for kind in loading.result_kinds().values()} <= noted("loaded")


def tree() -> set[str]:
    """Return every command, with its subcommands."""
    names = set()
    for name in app.list_commands(None):
        command = app.get_command(None, name)
        inside = command.list_commands(None) if hasattr(command, "list_commands") else [""]
        names |= {f"{name} {one}".strip() for one in inside}
    return names


def test_every_command_is_run():
    assert tree() <= noted("command")


def exits() -> set[tuple[str, int]]:
    """Return the exit codes that each command has: those it names, 0, and 2 for bad input."""
    names = {"EXIT_UNMET": 3, "EXIT_VACUOUS": 4, "EXIT_REFUTED": 5}
    codes = set()
    for command, (module, _, _) in COMMANDS.items():
        used = vars(importlib.import_module(module, "dpradar.cli"))
        codes |= {(command, code) for name, code in names.items() if name in used} | {(command, 0), (command, 2)}
    return codes | {("reproduce", 3)}


def test_every_exit_code_of_every_command_occurs():
    seen = {(command, int(code)) for command, code in (word.split() for word in noted("exit"))}
    assert exits() - seen == set(NO_QUESTION)


# Errors of 0.1.0 that the command line calls internal.
BUGS = {"repro/prior/list", "repro/far/gaussian*-at-*"}


def test_no_question_ends_in_a_bug_of_ours_but_those_that_are_known():
    """A slip in a question looks like that too."""
    broken = {name for name, answer in CORPUS.items() if answer.get("exit", {}).get("value") == 1}
    assert not {name for name in broken if not any(fnmatchcase(name, pattern) for pattern in BUGS)}


# What all engines return, and the parts of the engines for continuous priors and for sets.
PARTS = (
    "cell_counts",
    "density_shapes",
    "exact_risk",
    "gaussian_curvature",
    "laplace_curvature",
    "laplace_sums",
    "likelihoods",
    "named_records",
    "output_grid",
    "prior_cells",
    "range_maximum",
    "step_prior",
    "weighted_sums",
    "window_ends",
    "window_hits",
    "window_search",
    "windows",
)
ENGINES = {
    module.name: f"dpradar.bounds.exact.{module.name}"
    for module in pkgutil.iter_modules(dpradar.bounds.exact.__path__)
    if module.name not in PARTS
} | {"nested": "dpradar_reproduction.nested_monte_carlo"}
# A question keeps its name when a module is renamed; other engines are called in questions what their modules are.
NAMES_IN_QUESTIONS = {
    "argmax_location": "likeliest",
    "continuous_prior": "continuous",
    "finite_channel": "finite",
    "known_cell": "known",
    "line_noise": "line",
    "randomised_response": "diagonal",
    "repeated_counts": "counts",
    "set_partitions": "partition",
    "set_reports": "inclusion",
    "set_windows": "set-windows",
    "two_values": "two",
    "vector_noise": "vectors",
}


def test_only_engines_have_other_names_in_questions():
    assert set(NAMES_IN_QUESTIONS) <= set(ENGINES)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_computes_what_is_asked_of_it(engine):
    """The first question that names an engine runs it."""
    names = [name for name in QUESTIONS if name.startswith(f"engine/{NAMES_IN_QUESTIONS.get(engine, engine)}/")]
    assert len(names) >= 2
    path, ran = importlib.import_module(ENGINES[engine]).__file__, set()
    sys.setprofile(lambda frame, event, _: ran.add(frame.f_code.co_filename) if event == "call" else None)
    try:
        answer = ask(QUESTIONS[names[0]])
    finally:
        sys.setprofile(None)
    assert "error" not in answer
    assert path in ran
