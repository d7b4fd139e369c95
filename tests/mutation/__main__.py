"""Change the library in one place at a time, and see whether the tests notice.

``python -m tests.mutation --module bounds/exact --most 50 --seed 1`` draws 50 mutants of these modules, puts each into
a copy of the sources and runs the tests that tests/mutation/selection.py lists for it, with the doctests of the module.
A survivor is an expression that these tests do not pin down, or one that may be written either way. This is not part of
the tests: each mutant takes some ten seconds, on one core.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from .mutants import Mutant, mutants
from .selection import tests_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "dpradar"
PATIENCE = 4.0  # a mutant that needs so many times the time of the unchanged module hangs
LEAST_PATIENCE = 60.0


class Copy:
    """A copy of the sources, in which one module at a time is changed."""

    def __init__(self, folder: Path, chosen: tuple[str, ...], profile: str) -> None:
        self.folder, self.chosen, self.profile = folder, chosen, f"--hypothesis-profile={profile}"
        self.seconds: dict[str, float] = {}  # that the tests of an unchanged module take
        shutil.copytree(PACKAGE, folder / "dpradar", ignore=shutil.ignore_patterns("__pycache__"))

    def outcome(self, mutant: Mutant) -> str:
        """Return what becomes of a mutant: killed, survived or timed out."""
        module = mutant.path.with_suffix("").as_posix()
        if module not in self.seconds:
            start = time.monotonic()
            if self._tests(module, None) != 0:
                sys.exit(f"The tests of {module} fail without any change.")
            self.seconds[module] = time.monotonic() - start
        place = self.folder / "dpradar" / mutant.path
        original = place.read_text(encoding="utf-8")
        place.write_text(mutant.source, encoding="utf-8")
        try:
            code = self._tests(module, max(LEAST_PATIENCE, PATIENCE * self.seconds[module]))
        except subprocess.TimeoutExpired:
            return "timed out"
        finally:
            place.write_text(original, encoding="utf-8")
        return "killed" if code else "survived"

    def _tests(self, module: str, limit: float | None) -> int:
        files = [str(ROOT / "tests" / name) for name in self.chosen or tests_of(module)]
        doctests = str(self.folder / "dpradar" / f"{module}.py")
        options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not contract", self.profile]
        options += ["--rootdir", str(ROOT)]
        command = [sys.executable, "-m", "pytest", *options, "-c", str(ROOT / "pyproject.toml"), doctests, *files]
        path = os.pathsep.join([str(self.folder), os.environ.get("PYTHONPATH", "")])
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        environ = os.environ | one | {"PYTHONPATH": path}
        done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, timeout=limit, check=False)
        # 1: a test failed; 2 to 4: the module cannot even be imported; 5: no test at all.
        return done.returncode if done.returncode != 5 else 0


def modules_of(names: list[str]) -> list[Path]:
    """Return the modules that are named by files or folders of the package."""
    result = []
    for name in names:
        place = PACKAGE / name.removesuffix(".py")
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
        if not all(file.is_file() for file in files):
            sys.exit(f"There is no module {name} in src/dpradar.")
        result += [file.relative_to(PACKAGE) for file in files]
    return list(dict.fromkeys(result))


def main() -> None:
    """Read the arguments, run the tests with each mutant, print the survivors."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--module", nargs="+", required=True, help="files or folders below src/dpradar")
    parser.add_argument("--most", type=int, default=50, help="mutants that are tried (50)")
    parser.add_argument("--seed", type=int, default=1, help="which ones are drawn (1)")
    parser.add_argument("--line", type=int, nargs="+", help="only those of these lines")
    parser.add_argument("--tests", nargs="+", default=[], help="files below tests, instead of those that are listed")
    parser.add_argument(
        "--profile", default="few", help="of hypothesis, as in tests/conftest.py: few, ci or deep (few)"
    )
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    options = parser.parse_args()
    pool = []
    for path in modules_of(options.module):
        if not (options.tests or tests_of(path.with_suffix("").as_posix())):
            sys.exit(f"No tests are listed for {path}: name them in tests/mutation/selection.py or with --tests.")
        pool += mutants(path, (PACKAGE / path).read_text(encoding="utf-8"))
    pool = [mutant for mutant in pool if options.line is None or mutant.line in options.line]
    drawn = random.Random(options.seed).sample(pool, min(options.most, len(pool)))
    drawn.sort(key=lambda mutant: (mutant.path, mutant.line))
    print(f"{len(drawn)} of {len(pool)} mutants, seed {options.seed}", flush=True)
    if options.list:
        print(*drawn, sep="\n")
        return
    counts: Counter[str] = Counter()
    survivors = []
    with tempfile.TemporaryDirectory(prefix="dpradar-mutants-") as folder:
        copy = Copy(Path(folder), tuple(options.tests), options.profile)
        for mutant in drawn:
            outcome = copy.outcome(mutant)
            counts[outcome] += 1
            if outcome != "killed":
                survivors.append((outcome, mutant))
            print(f"{outcome:9}  {mutant}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    for outcome, mutant in survivors:
        print(f"{outcome:9}  {mutant}")


if __name__ == "__main__":
    main()
