"""The file of texts is complete, and comparing notices a changed sentence."""

from __future__ import annotations

from tests.numbers.texts import changed_lines, commands, printed, read_texts, text_of


def test_every_command_has_a_text():
    assert list(read_texts()) == commands()


def test_a_changed_sentence_is_noticed():
    before = read_texts()
    line = "assess grr --m 10 --epsilon nan"
    after = {**before, line: before[line].replace("finite", "infinite")}
    assert any("infinite" in one for one in changed_lines(before, after))
    assert not changed_lines(before, dict(before))


def test_texts_are_read_as_they_were_written():
    assert text_of(read_texts()).count("\n$ ") == len(commands())


def test_texts_are_what_commands_print():
    for line in ("assess grr --m 100 --epsilon 2 --knowledge everything", "assess grr --m 10", "new --help"):
        assert printed(line) == read_texts()[line]
