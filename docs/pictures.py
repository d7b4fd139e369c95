"""Pictures of the report and of the explorer for README and docs: `make docs` runs this where chromium is installed.

A picture is written only where it differs from the one that is there, so that on the same system a build leaves the
repository as it is until what people see has changed.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
SPEC = HERE.parent / "examples" / "health-survey.toml"
LARGEST = 150_000  # bytes
COLOURS = 64


def _chromium(*options: str) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        sys.exit("pictures need chromium")
    with tempfile.TemporaryDirectory() as profile:
        plain = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        alone = [f"--user-data-dir={profile}", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        command = [browser, *plain, *alone, *options]
        subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603 - our own pages


def _picture(address: str, width: int, height: int) -> Image.Image:
    """Return what a browser shows at this address, in few colours."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "picture.png")
        _chromium(f"--window-size={width},{height}", "--virtual-time-budget=10000", f"--screenshot={target}", address)
        return Image.open(io.BytesIO(target.read_bytes())).convert("RGB").quantize(COLOURS)


def _is_there(image: Image.Image, path: Path) -> bool:
    """Whether this picture was kept before; a single digit may have changed, so every pixel counts."""
    if not path.exists():
        return False
    old, new = (np.asarray(one.convert("RGB")) for one in (Image.open(path), image))
    return bool(np.array_equal(old, new))


def _keep(image: Image.Image, path: Path) -> None:
    if _is_there(image, path):
        return
    image.save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        sys.exit(f"{path} has {path.stat().st_size} bytes, more than {LARGEST}")
    sys.stdout.write(f"wrote {path.relative_to(HERE.parent)}\n")


def report(path: Path) -> None:
    """Show the upper part of the report of an example."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "risk.html")
        command = [sys.executable, "-m", "dpradar", "run", str(SPEC), "--report", str(target)]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own command
        _keep(_picture(target.as_uri(), 1000, 1400), path)


@contextlib.contextmanager
def _serving() -> Iterator[str]:
    """Run the explorer on a free port, and give its address."""
    command = [sys.executable, "-m", "dpradar", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:  # noqa: S603 - our own command
        try:
            line = server.stdout.readline() if server.stdout else ""
            if "http://" not in line:
                sys.exit("the explorer did not start")
            yield line.split()[-1]
        finally:
            server.terminate()


def explorer(path: Path) -> None:
    """Show the screen that assesses."""
    with _serving() as address:
        _keep(_picture(f"{address}assess?kind=grr&m=10&epsilon=2", 1200, 1080), path)


if __name__ == "__main__":
    report(HERE / "pictures" / "report.png")
    explorer(HERE / "pictures" / "explorer.png")
