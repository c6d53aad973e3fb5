"""Markdown as a page of the documentation."""

import html
import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, Template
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
from pygments.util import ClassNotFound  # type: ignore[import-untyped]

Link = Callable[[str], str | None]  # where a link leads now; None: nowhere


@dataclass(frozen=True)
class Entry:
    """A page in the list of pages."""

    path: str  # such as features/ema.html
    title: str
    section: str
    help: str = ""


def as_html(text: str, link: Link) -> str:
    """The Markdown as HTML; links that lead nowhere become plain text."""
    parser = MarkdownIt("commonmark", {"highlight": _highlight}).enable("table")
    tokens = parser.parse(text)
    for token in tokens:
        if token.children:
            token.children = _follow(token.children, link)
    made: str = parser.renderer.render(tokens, parser.options, {})
    made = re.sub(r"<pre>", '<pre tabindex="0">', made)
    made = re.sub(r"<h([23])>(.*?)</h\1>", _anchor, made)
    return made.replace("<table>", '<div class="wide" tabindex="0"><table>').replace(
        "</table>", "</table></div>"
    )


def _anchor(found: re.Match[str]) -> str:
    level, title = found.groups()
    return f'<h{level} id="{slug(re.sub("<.*?>", "", title))}">{title}</h{level}>'


def slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", html.unescape(title).lower()).strip("-")


def _follow(children: Sequence[Token], link: Link) -> list[Token]:
    kept, leads = [], True
    for token in children:
        if token.type == "link_open":
            target = link(str(token.attrs["href"]))
            leads = target is not None
            if target is not None:
                token.attrs["href"] = target
        if token.type in ("link_open", "link_close") and not leads:
            continue
        if token.type == "image":
            source = link(str(token.attrs["src"]))
            if source is None:
                continue
            token.attrs["src"] = source
        kept.append(token)
    return kept


def _highlight(code: str, language: str, attributes: Any) -> str:
    if language == "diff":
        return "".join(map(_diff_line, code.splitlines(keepends=True)))
    try:
        lexer = get_lexer_by_name({"console": "console", "sh": "bash"}.get(language, language))
    except ClassNotFound:
        return ""
    made: str = highlight(code, lexer, HtmlFormatter(nowrap=True, classprefix="c-"))
    return made


def _diff_line(line: str) -> str:
    kind = {"+": "added", "-": "deleted", "@": "place"}.get(line[:1], "")
    if line.startswith(("+++ ", "--- ", "diff ", "new ")):
        kind = "place"
    text = html.escape(line.rstrip("\n"))
    return f'<span class="{kind}">{text}</span>\n' if kind else f"{text}\n"


def as_page(entry: Entry, body: str, entries: Sequence[Entry]) -> str:
    """The whole page around its text."""
    sections: dict[str, list[Entry]] = {}
    for other in entries:
        sections.setdefault(other.section, []).append(other)
    return _frame().render(
        title=entry.title,
        root="../" * entry.path.count("/"),
        entry=entry,
        sections=sections,
        body=body,
    )


@cache
def _frame() -> Template:
    path = resources.files("scaffold") / "web" / "static" / "docs.html"
    return Environment(autoescape=True).from_string(path.read_text(encoding="utf-8"))


def relative(target: str, page: str) -> str:
    """The path of a page as another page links to it."""
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


def plain(text: str) -> str:
    """The words of a text in Markdown, for the search."""
    return re.sub(r"\s+", " ", re.sub(r"</?div.*?>|[`*#|>\[\]]|\(\S+\)|-{3,}", " ", text)).strip()
