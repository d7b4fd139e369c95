"""Run tests in clean environments: the lowest versions that are declared, and the extras that a tutorial names.

``python -m tests.environments oldest`` installs, for the core and for each extra, the lowest version of every direct
dependency that pyproject.toml allows and runs the tests of that part. ``python -m tests.environments tutorials`` installs
for each tutorial the extras in its own ``pip install`` line (the core alone where it has none) and runs its blocks. Names
after that choose some of them. Each environment is made by uv in a temporary folder and removed.
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

# The tests that need nothing but the core and one extra. The extra `torch` has no row: its lowest versions exist only as
# builds with several gigabytes of CUDA; the tutorial about Opacus runs with the newest ones.
OLDEST = {
    # The golden messages are those of the newest click, which puts other words around an unknown option.
    "core": ("tests/cli/test_assess.py", "tests/cli/test_bad_arguments.py", "tests/oracles/test_closed_forms.py", "-k", "not golden"),
    "accounting": ("tests/contract/test_dp_accounting.py", "tests/oracles/test_composition.py"),
    "cluster": ("tests/campaigns/test_cluster.py",),
    "data": ("tests/data/test_prior.py", "tests/data/test_region.py"),
    "opendp": ("tests/contract/test_opendp.py",),
    "report": ("tests/present",),
    "roads": ("tests/unit/test_roads.py",),
    "search": ("tests/unit/test_audit.py", "tests/learning/test_models.py"),
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
        """Install the project with these extras into a new environment, run the tests there and return their exit code."""
        with tempfile.TemporaryDirectory(prefix="dpradar-environment-") as folder:
            python = Path(folder) / "venv" / "bin" / "python"
            # `copy` works across file systems; PyTorch's CPU build is found by pip only, see the Makefile.
            environ = os.environ | {"UV_LINK_MODE": "copy", "VIRTUAL_ENV": str(python.parents[1])}
            environ.pop("PYTHONPATH", None)
            subprocess.run([uv, "venv", "--quiet", "--seed", "--python", sys.executable, python.parents[1]], check=True, env=environ)
            requirement = f"dpradar[{','.join(self.extras)}] @ {ROOT.as_uri()}" if self.extras else f"dpradar @ {ROOT.as_uri()}"
            if "torch" in self.extras:
                subprocess.run([python, "-m", "pip", "install", "--quiet", "torch==2.13.0"], check=True, env=environ)
                subprocess.run([python, "-m", "pip", "install", "--quiet", requirement, *TEST_TOOLS], check=True, env=environ)
            else:
                install = [uv, "pip", "install", "--quiet", "--resolution", self.resolution]
                subprocess.run([*install, requirement], check=True, env=environ)
                subprocess.run([uv, "pip", "install", "--quiet", *TEST_TOOLS], check=True, env=environ)
            doctor = subprocess.run([python, "-m", "dpradar", "doctor"], check=False, env=environ, cwd=folder)
            # The repository is the working folder, but `src` is not on the path: what is imported is what was installed.
            tests = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *self.arguments], check=False, env=environ, cwd=ROOT)
        return doctor.returncode or tests.returncode


def oldest() -> list[Environment]:
    """Return one environment for the core and one for each extra, with the lowest versions."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    untested = set(declared) - set(OLDEST) - {"dev", "docs", "torch"}
    if untested:
        sys.exit(f"no tests are named for the extras {', '.join(sorted(untested))}; add them to OLDEST")
    return [
        Environment(name=name, extras=() if name == "core" else (name,), resolution="lowest-direct", arguments=tests)
        for name, tests in OLDEST.items()
    ]


def tutorials() -> list[Environment]:
    """Return one environment for each tutorial, with the extras that it names."""
    return [_tutorial(page) for page in sorted(TUTORIALS.glob("*.md"))]


def _tutorial(page: Path) -> Environment:
    named = INSTALL_LINE.search(page.read_text(encoding="utf-8"))
    extras = tuple(named.group(1).split(",")) if named else ()
    folder = "tests/pytorch/test_model_audit.py" if "torch" in extras else "tests/architecture"
    return Environment(name=page.stem, extras=extras, resolution="highest", arguments=(folder, "-k", f"tutorials/{page.stem}"))


def main() -> int:
    """Run the environments that were asked for; the exit code is 1 if any failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.environments", description=__doc__)
    parser.add_argument("kind", choices=("oldest", "tutorials"))
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--uv", default=shutil.which("uv"), help="the program uv")
    options = parser.parse_args()
    if options.uv is None:
        parser.error("uv is not installed; make test-oldest and make test-tutorials install it")
    environments = {one.name: one for one in (oldest if options.kind == "oldest" else tutorials)()}
    unknown = [name for name in options.names if name not in environments]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; allowed: {', '.join(environments)}")
    failed = []
    for name in options.names or environments:
        print(f"== {options.kind} {name}: {', '.join(environments[name].extras) or 'no extras'}", flush=True)  # noqa: T201
        if environments[name].run(options.uv):
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all passed")  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
