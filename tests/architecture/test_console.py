"""Every console block of README and docs shows what its commands print."""

from __future__ import annotations

import pytest

from tests.console import DOCUMENTS, ROOT, blocks, prepare, run, same

CASES = [(path, number) for path in DOCUMENTS for number, _ in enumerate(blocks(path))]


@pytest.mark.parametrize(("path", "number"), CASES, ids=[f"{p.relative_to(ROOT)}-{n}" for p, n in CASES])
def test_console_block(path, number, tmp_path):
    prepare(path, tmp_path)
    for step in blocks(path)[number]:
        printed = run(step.command, tmp_path)
        assert same(printed, step.printed), "\n".join([f"$ {step.command}", *printed])


def test_a_wrong_line_is_noticed():
    assert same(["a", "b"], ["a", "b"])
    assert same(["a", "b", "c"], ["a", "..."])
    assert not same(["a", "b"], ["a", "c"])
    assert not same(["a", "b", "c"], ["a", "b"])


def test_files_of_a_page_are_there(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```toml\n# survey.toml\nm = 3\n```\n\n```toml\nno = 'file'\n```\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    prepare(page, folder)
    assert sorted(file.name for file in folder.iterdir()) == ["examples", "survey.toml"]
    assert run("cat survey.toml", folder) == ["# survey.toml", "m = 3"]
