"""A pseudo-terminal, with the screen that a person sees."""

import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pexpect
import pyte

UP, DOWN, ENTER, ESCAPE, CTRL_C, CTRL_U = "\x1b[A", "\x1b[B", "\r", "\x1b", "\x03", "\x15"
PAGE_UP, PAGE_DOWN, HOME, END, BACKSPACE = "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F", "\x7f"
SECONDS = 30


class Terminal:
    """`scaffold new project` in a terminal, with the screen that a person sees."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        columns: int = 120,
        rows: int = 80,
        command: Sequence[str] = ("-m", "scaffold", "new", "project"),
    ) -> None:
        self.folder = folder
        self.text = ""  # the screen
        self.lines = [""] * rows
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.Stream(self.screen)
        self.child = pexpect.spawn(
            sys.executable,
            [*command, *options],
            cwd=str(folder),
            env={**os.environ, "TERM": "xterm", "COLUMNS": "300"},  # the terminal knows better
            dimensions=(rows, columns),
            encoding="utf-8",
        )
        self.child.delaybeforesend = None  # nothing echoes here
        # prompt_toolkit asks where the cursor is, and the screen answers as a terminal does
        self.screen.write_process_input = self.child.send

    def question(self) -> str:
        """The open question with all that belongs to it. Empty if there is none."""
        below = "?" + ("\n" + self.text).rpartition("\n?")[2]
        return below.rstrip() if "Ctrl-C: cancel" in below else ""

    def wait(self, *texts: str, without: str = "") -> str:
        """Read until a question is open that holds these texts. Returns it."""
        end = time.monotonic() + SECONDS
        while not self._shows(texts, without):
            assert time.monotonic() < end, f"not asked: {texts}\n{self.text}"
            assert self.read(), f"ended instead of asking {texts}\n{self.text}"
        return self.question()

    def _shows(self, texts: tuple[str, ...], without: str) -> bool:
        question = self.question()
        gone = not without or without not in question
        return bool(question) and gone and all(text in question for text in texts)

    def settled(self, *texts: str) -> str:
        """The question that holds these texts, once nothing more is written."""
        before = ""
        while before != self.text:
            before = self.text
            self.read(seconds=0.3)
        return self.wait(*texts)

    def read(self, seconds: float = 1) -> bool:
        """Take in what was written. False at the end."""
        try:
            self.stream.feed(self.child.read_nonblocking(65536, timeout=seconds))
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        for row in self.screen.dirty:  # to read all of them again would take most of the time
            line = self.screen.buffer[row]
            self.lines[row] = "".join(line[x].data for x in range(self.screen.columns)).rstrip()
        self.screen.dirty.clear()
        self.text = "\n".join(self.lines)
        return True

    def press(self, keys: str, *texts: str) -> None:
        """Press keys at a question that holds these texts, and wait for what they change."""
        before = self.wait(*texts)
        self.child.send(keys)
        self.wait(without=before)

    def answer(self, text: str, answer: str = "") -> None:
        """Type an answer to a question."""
        self.press(answer + ENTER, text)

    def point_at(self, value: str, question: str) -> None:
        """Move the pointer of a menu to a choice."""
        shown = self.wait(question, "»")
        while value not in (pointed := next(x for x in shown.splitlines() if "»" in x)).split():
            self.child.send(DOWN)
            shown = self.wait(question, "»", without=pointed)

    def choose(self, question: str, value: str) -> None:
        self.point_at(value, question)
        self.press(ENTER)

    def switch(self, feature: str) -> None:
        self.point_at(feature, "Which features?")
        self.press(" ")

    def repeat(self, keys: str, until: str) -> None:
        """Press keys once at each question up to one."""
        while until not in (shown := self.wait()):
            self.child.send(keys)
            end = time.monotonic() + SECONDS
            while asked(self.wait()) == asked(shown):  # it may be drawn again before it goes
                assert time.monotonic() < end, f"nothing else is asked\n{self.text}"
                assert self.read(), f"ended instead of asking {until}\n{self.text}"

    def finish(self, keys: str) -> int:
        """Press the last keys and read to the end. Returns the exit status."""
        self.wait()
        self.child.send(keys)
        end = time.monotonic() + SECONDS
        while self.read():
            assert time.monotonic() < end, f"goes on\n{self.text}"
        self.child.close()
        assert self.child.exitstatus is not None, self.text
        return self.child.exitstatus


def asked(shown: str) -> str:
    """What an open question asks for: the key of a setting, or its words."""
    row = shown.partition("\n")[0]
    keys = re.findall(r"\((\w+(?:\.\w+)+)\)", row)
    return keys[-1] if keys else row.split("?")[1]


def pointed(shown: str) -> str:
    row = next(row for row in shown.splitlines() if "»" in row)
    return row.split()[2]
