"""Run tests in clean environments: the lowest versions that are declared, and the extras that a tutorial names.

``python -m tests.environments oldest`` installs, for the core and for each extra, the lowest version of every direct
dependency that pyproject.toml allows and runs the tests of that part. ``python -m tests.environments tutorials``
installs for each tutorial the extras in its own ``pip install`` line (the core alone where it has none) and runs its
blocks. Names after that choose some of them. Each environment is made by uv in a temporary folder and removed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
TEST_TOOLS = ("hypothesis", "mpmath", "pytest")
INSTALL_LINE = re.compile(r'pip install "dpradar\[([\w,]+)\]"')

# The tests that need nothing but the core and one extra, or the reproduction, which brings its own. The extra `torch`
# has no row: its lowest versions exist only as builds with several gigabytes of CUDA; the tutorial about Opacus runs
# with the newest ones.
OLDEST = {
    # The golden messages are those of the newest click, which puts other words around an unknown option.
    "core": ("tests/cli/test_assess.py", "tests/cli/test_bad_arguments.py", "-k", "not golden"),
    # With the lowest scipy the integral that one test compares with is off by two units in the last place.
    "accounting": (
        "tests/contract/test_dp_accounting.py",
        "tests/guarantees/test_oracles_composition.py",
        "-k",
        "not integral",
    ),
    "cluster": ("tests/campaigns/test_cluster.py",),
    "data": ("tests/data/test_prior.py", "tests/data/test_region.py"),
    "opendp": ("tests/contract/test_opendp.py",),
    "report": ("tests/present",),
    "reproduction": ("reproduction/tests/test_figures.py", "reproduction/tests/test_roads.py"),
    "search": ("tests/audits/test_audit.py", "tests/learning/test_models.py"),
    "web": ("tests/web",),
}


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A clean environment: what is installed, by which resolution, and what runs in it."""

    name: str
    extras: tuple[str, ...]
    resolution: str
    arguments: tuple[str, ...]

    def run(self, uv: str) -> int:
        """Install the project with these extras into a new environment, run the tests there, return their exit code."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        requirements = [f"dpradar{extras} @ {ROOT.as_uri()}"]
        if self.name == "reproduction":
            requirements.append(f"dpradar-reproduction[roads] @ {(ROOT / 'reproduction').as_uri()}")
        with tempfile.TemporaryDirectory(prefix="dpradar-environment-") as folder:
            home = Path(folder) / "venv"
            python = str(home / "bin" / "python")
            environ = os.environ | {"UV_LINK_MODE": "copy", "VIRTUAL_ENV": str(home)}
            environ.pop("PYTHONPATH", None)

            def call(*command: str, cwd: str | Path = folder, check: bool = True) -> int:
                return subprocess.run(command, check=check, env=environ, cwd=cwd).returncode

            call(uv, "venv", "--quiet", "--seed", "--python", sys.executable, str(home))
            if "torch" in self.extras:  # its build without CUDA is found by pip only, see the Makefile
                call(python, "-m", "pip", "install", "--quiet", "torch==2.13.0")
                call(python, "-m", "pip", "install", "--quiet", *requirements, *TEST_TOOLS)
            else:
                call(uv, "pip", "install", "--quiet", "--resolution", self.resolution, *requirements)
                call(uv, "pip", "install", "--quiet", *TEST_TOOLS)
            doctor = call(python, "-m", "dpradar", "doctor", check=False)
            # The repository is the working folder, but `src` is not on the path: what was installed is imported.
            pytest = call(
                python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *self.arguments, cwd=ROOT, check=False
            )
        return doctor or pytest


def oldest() -> list[Environment]:
    """Return one environment for the core and one for each extra, with the lowest versions."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    untested = set(declared) - set(OLDEST) - {"all", "dev", "docs", "torch"}
    if untested:
        sys.exit(f"no tests are named for the extras {', '.join(sorted(untested))}; add them to OLDEST")
    return [
        Environment(name=name, extras=(name,) if name in declared else (), resolution="lowest-direct", arguments=tests)
        for name, tests in OLDEST.items()
    ]


def tutorials() -> list[Environment]:
    """Return one environment for each tutorial, with the extras that it names."""
    return [_tutorial(page) for page in sorted(TUTORIALS.glob("*.md"))]


def _tutorial(page: Path) -> Environment:
    named = INSTALL_LINE.search(page.read_text(encoding="utf-8"))
    extras = tuple(named.group(1).split(",")) if named else ()
    folder = "tests/pytorch/test_model_audit.py" if "torch" in extras else "tests/architecture"
    arguments = (folder, "-k", f"tutorials/{page.stem}")
    return Environment(name=page.stem, extras=extras, resolution="highest", arguments=arguments)


def main() -> int:
    """Run the environments that were asked for; the exit code is 1 if any failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.environments", description=__doc__)
    parser.add_argument("kind", choices=("oldest", "tutorials"))
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--uv", default=shutil.which("uv"), help="the program uv")
    options = parser.parse_args()
    if options.uv is None:
        parser.error("uv is not installed; make test-oldest and make test-tutorials install it")
    uv = str(Path(options.uv).resolve())  # the environments are made in other folders
    environments = {one.name: one for one in (oldest if options.kind == "oldest" else tutorials)()}
    unknown = [name for name in options.names if name not in environments]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; allowed: {', '.join(environments)}")
    failed = []
    for name in options.names or environments:
        print(f"== {options.kind} {name}: {', '.join(environments[name].extras) or 'no extras'}", flush=True)  # noqa: T201
        if environments[name].run(uv):
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all passed")  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
