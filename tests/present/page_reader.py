"""Read a page as a browser would, as far as the tests need it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Reader(HTMLParser):
    """Elements in order with their attributes and the text inside, and whether every element was closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute twice in {tag}"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data.strip()))

    def names(self) -> list[str]:
        return [name for name, _ in self.elements]

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]

    def text(self) -> str:
        return " ".join(text for tag, text in self.texts if tag not in ("script", "style", "title"))

    def data(self) -> dict:
        scripts = [text for tag, text in self.texts if tag == "script"]
        assert len(scripts) == 1
        return json.loads(scripts[0])


def styles(text: str) -> str:
    """Return the style sheets of a page."""
    return "\n".join(re.findall(r"<style>(.*?)</style>", text, flags=re.S))
