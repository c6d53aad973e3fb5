"""Long menus on a small screen: pages, a filter, and a line that says what is hidden."""

import string
from collections.abc import Callable, Mapping
from typing import Any

import questionary
from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import (
    StyleAndTextTuples,
    fragment_list_to_text,
    to_formatted_text,
)
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import ScrollOffsets, UIContent, UIControl, Window
from prompt_toolkit.layout.containers import WindowRenderInfo
from questionary.prompts.common import InquirerControl


class Menu:
    """The choices of a prompt of questionary. A filter leaves those that contain its text.

    If none does, it leaves those with the text in their description, by value.
    """

    def __init__(
        self, application: Application[Any], descriptions: Mapping[str, str] | None = None
    ) -> None:
        self.descriptions = descriptions or {}
        windows = application.layout.find_all_windows()
        self.window = next(w for w in windows if isinstance(w.content, InquirerControl))
        assert isinstance(self.window.content, InquirerControl)
        self.control: InquirerControl = self.window.content
        self.all: list[questionary.Choice] = list(self.control.choices)
        self.filter = ""
        self.matches = ""  # how many choices the filter leaves, in words
        # the choice that is pointed at is shown with all its lines
        self.window.scroll_offsets = ScrollOffsets(bottom=max(map(_height, self.all)) - 1)

    def point_at(self, value: str) -> None:
        """Point at the choice with this value, if there is one."""
        values = [choice.value for choice in self.control.choices]
        if value in values:
            self.control.pointed_at = values.index(value)

    def narrow(self, text: str) -> None:
        """Filter by this text. If nothing contains it, the choices stay as they were."""
        self.filter, wanted = text, text.lower()
        pointed = self.control.choices[self.control.pointed_at]
        left = [choice for choice in self.all if wanted in _words(choice)]
        self.matches = f"{len(left)} of {len(self.all)}"
        if not left:
            left = [choice for choice in self.all if wanted in self._description(choice)]
            self.matches = f"{len(left)} of {len(self.all)}, by their description"
        if left:
            self.control.choices = left
            # names that begin with the text come first
            named = [choice for choice in left if str(choice.value).startswith(wanted)]
            if text:
                pointed = (named or left)[0]
            self.control.pointed_at = left.index(pointed)
        else:
            self.matches = "no choice contains it (Backspace deletes)"

    def _description(self, choice: questionary.Choice) -> str:
        return self.descriptions.get(str(choice.value), "").lower()

    def picked(self) -> list[str]:
        """The values that are switched on, those that the filter hides too."""
        values = (str(choice.value) for choice in self.all)
        return [value for value in values if value in self.control.selected_options]

    def page(self, step: int) -> None:
        """Point at the choice that is a screen further down or up."""
        choices, at = self.control.choices, self.control.pointed_at
        info = self.window.render_info
        room = (info.window_height if info else 1) - _height(choices[at])
        to = at
        while 0 <= to + step < len(choices) and room >= _height(choices[to + step]):
            to += step
            room -= _height(choices[to])
        if to == at:
            to = min(max(at + step, 0), len(choices) - 1)
        self.control.pointed_at = to

    def keys(self) -> KeyBindings:
        """Keys that move over pages."""
        keys = KeyBindings()
        for key, step in (("pagedown", 1), ("pageup", -1)):

            @keys.add(key, eager=True)
            def _(event: KeyPressEvent, step: int = step) -> None:
                self.page(step)

        for key, end in (("home", 0), ("end", -1)):

            @keys.add(key, eager=True)
            def _(event: KeyPressEvent, end: int = end) -> None:
                self.control.pointed_at = end % len(self.control.choices)

        return keys

    def filter_keys(self, several: bool) -> KeyBindings:
        """Keys that type a filter. Of `several` choices, Enter takes those that are on."""
        keys = KeyBindings()
        for character in set(string.printable) - set(string.whitespace):

            @keys.add(character, eager=True)
            def _(event: KeyPressEvent) -> None:
                self.narrow(self.filter + event.data)

        @keys.add("backspace", eager=True)
        def _(event: KeyPressEvent) -> None:
            self.narrow(self.filter[:-1])

        if several:

            @keys.add("enter", eager=True)
            def _(event: KeyPressEvent) -> None:
                event.app.exit(result=self.picked())

        return keys

    def hidden(self) -> str:
        """What the filter and the height of the screen hide, in words."""
        parts = []
        if self.filter:
            parts.append(f"filter {self.filter!r}: {self.matches}")
        if info := self.window.render_info:
            above, below = self._outside(info)
            parts += [f"{above} more above"] if above else []
            parts += [f"{below} more below"] if below else []
        return " · ".join(parts)

    def _outside(self, info: WindowRenderInfo) -> tuple[int, int]:
        """How many choices begin above the first line that is shown, and below the last."""
        starts, line = [], 0
        for choice in self.control.choices:
            starts.append(line)
            line += _height(choice)
        first, last = info.first_visible_line(), info.last_visible_line()
        return sum(start < first for start in starts), sum(start > last for start in starts)


class Below(UIControl):
    """A line of text that is made after the windows above it are drawn."""

    def __init__(self, text: Callable[[], str]) -> None:
        self.text = text

    def create_content(self, width: int, height: int) -> UIContent:
        line: StyleAndTextTuples = [("class:hint", f"  {self.text()}"[:width])]
        return UIContent(get_line=lambda number: line, line_count=1)


def below(menu: Menu) -> Window:
    """The line that says what a menu hides, empty if that is nothing."""
    return Window(Below(menu.hidden), height=1, dont_extend_height=True)


def _words(choice: questionary.Choice) -> str:
    """The text of a choice on one line, in small letters."""
    return " ".join(_text(choice).split()).lower()


def _height(choice: questionary.Choice) -> int:
    return _text(choice).count("\n") + 1


def _text(choice: questionary.Choice) -> str:
    title: Any = choice.title  # a text, or parts with their style
    return fragment_list_to_text(to_formatted_text(title))
