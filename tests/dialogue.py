"""Draws the dialogue of `scaffold new` as it is in a terminal, for the README.

`python tests/dialogue.py` runs it in a pseudo-terminal, presses keys, and writes what the screen
shows after each step to scaffold/web/pages/dialogue.svg.
"""

import tempfile
from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import Path

import pyte

from support.paths import REPOSITORY
from support.terminal import DOWN, ENTER, Terminal

PICTURE = REPOSITORY / "scaffold" / "web" / "pages" / "dialogue.svg"
COLUMNS, ROWS = 96, 26
WIDTH, HEIGHT = 8.0, 18.0  # of a sign, in pixels
SECONDS = 3.5  # that each screen is shown
COLOURS = {
    "default": "#d8dee9",
    "cyan": "#5cc8d7",
    "brightblack": "#8a93a5",
    "red": "#ff7b72",
    "green": "#7ee787",
}
BACKGROUND = "#161a21"

Row = list[tuple[str, str]]  # texts and their style


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        screens = [
            [[(text.replace(folder, "~"), look) for text, look in row] for row in screen]
            for screen in play(Path(folder))
        ]
    PICTURE.write_text(draw(screens), encoding="utf-8")
    print(f"Wrote {PICTURE}: {len(screens)} screens.")


def play(folder: Path) -> Iterator[list[Row]]:
    """The screens of a project that is made with a few answers."""
    command = ("-m", "scaffold", "new", "digits")
    terminal = Terminal(folder, columns=COLUMNS, rows=ROWS, command=command)
    accept(terminal, until="(project.task)")
    terminal.point_at("image_classification", "(project.task)")
    yield settled(terminal)
    accept(terminal, until="(hardware.mixed_precision)")
    terminal.press(DOWN)
    yield settled(terminal)
    accept(terminal, until="Which features?")
    terminal.press("average")
    terminal.settled("filter 'average'")
    terminal.press(" ")
    yield settled(terminal)
    accept(terminal, until="? Write ")
    yield settled(terminal)
    assert terminal.finish(ENTER) == 0
    yield rows(terminal.screen)


def settled(terminal: Terminal) -> list[Row]:
    terminal.settled()
    return rows(terminal.screen)


def accept(terminal: Terminal, until: str) -> None:
    """Press Enter up to a question."""
    while until not in terminal.settled():
        terminal.press(ENTER)


def rows(screen: pyte.Screen) -> list[Row]:
    """What a screen shows, in runs of one style."""
    found = []
    for number in range(screen.lines):
        line = [screen.buffer[number][column] for column in range(screen.columns)]
        found.append([("".join(c.data for c in run), look) for look, run in groupby(line, style)])
    return found


def style(sign: pyte.screens.Char) -> str:
    colour = COLOURS.get(sign.fg, COLOURS["default"])
    return f'fill="{colour}"' + (' font-weight="bold"' if sign.bold else "")


def draw(screens: list[list[Row]]) -> str:
    """An SVG that shows one screen after the other."""
    width, height = COLUMNS * WIDTH + 32, ROWS * HEIGHT + 32
    share = 100 / len(screens)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
        "<title>The dialogue of scaffold new in a terminal</title>",
        "<style>text { font: 13.3px ui-monospace, Menlo, Consolas, monospace; white-space: pre }",
        f".s {{ visibility: hidden; animation: s {SECONDS * len(screens):g}s step-end infinite }}",
        f"@keyframes s {{ 0% {{ visibility: visible }} {share:g}% {{ visibility: hidden }} }}",
        "@media (prefers-reduced-motion: reduce) { .s { animation: none }",
        ".s:last-of-type { visibility: visible } }</style>",
        f'<rect width="{width:g}" height="{height:g}" rx="8" fill="{BACKGROUND}"/>',
    ]
    for number, screen in enumerate(screens):
        delay = SECONDS * number
        parts.append(f'<g class="s" style="animation-delay: {delay:g}s">')
        for place, row in enumerate(screen):
            parts += draw_row(row, 16 + HEIGHT * (place + 0.75))
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def draw_row(row: Row, y: float) -> Iterator[str]:
    column = 0
    for text, look in row:
        if text.strip():
            x, length = 16 + WIDTH * column, WIDTH * len(text.rstrip())
            shown = escape(text.rstrip())
            yield f'<text x="{x:g}" y="{y:g}" textLength="{length:g}" {look}>{shown}</text>'
        column += len(text)


if __name__ == "__main__":
    main()
