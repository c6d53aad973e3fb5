"""The dialogue of `scaffold new` and `scaffold update --ask`, in a terminal.

`questions.py` decides what to ask.
"""

import textwrap
from collections.abc import Collection
from pathlib import Path
from typing import Any

import questionary
from prompt_toolkit import print_formatted_text
from prompt_toolkit.application import Application, get_app_session
from prompt_toolkit.completion import PathCompleter
from prompt_toolkit.filters import to_filter
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.layout import (
    AnyContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    VerticalAlign,
    Window,
)
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.utils import get_cwidth
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scaffold.answers.catalog import Catalog, Choice, Option
from scaffold.answers.data import Finding, look_at_data
from scaffold.answers.menu import Menu, below
from scaffold.answers.questions import (
    FEATURES,
    FINER,
    Interview,
    Question,
    Typed,
    as_shown,
    begin,
    find_columns,
    in_words,
)
from scaffold.answers.resolve import Answers, applies, fits, is_on, resolve
from scaffold.errors import AnswerError


def ask_answers(
    catalog: Catalog,
    given: Answers,
    folder: Path,
    previous: Answers | None = None,
    imported: Collection[str] = (),
) -> Answers | None:
    """All answers: the given ones, and what the user answers in the terminal for the rest.

    `previous` and `imported` are those of `questions.begin`. None if the user cancels. Raises
    AnswerError for given answers that are not allowed.
    """
    interview = begin(catalog, given, folder.name, previous, imported)
    try:
        # raw mode from the first question to the last: a key pressed between two questions is
        # neither shown nor lost, and Ctrl-C is a key like any other
        with get_app_session().input.raw_mode():
            return _converse(interview, folder)
    except (KeyboardInterrupt, EOFError):
        return None


def _converse(interview: Interview, folder: Path) -> Answers | None:
    shown: dict[str, int] = {}  # lines on the screen that show each reply
    found = _look(interview, folder)
    _print_findings(list(found.values()))
    while True:
        question = interview.next_question()
        if question:
            answers = _ask(interview, question, folder)
            if answers is not None:
                interview.answer(question, answers)
                shown[question.key] = _print_reply(question, answers)
                before, found = found, _look(interview, folder)
                new = [finding for key, finding in found.items() if finding != before.get(key)]
                shown[question.key] += _print_findings(new)
                continue
        else:
            wish = _confirm(interview, folder)
            if wish != "back":
                return interview.resolve() if wish == "yes" else None
        _erase(shown.pop(interview.take_back()))
        found = _look(interview, folder)


def _look(interview: Interview, folder: Path) -> dict[str, Finding]:
    """What is found at the paths of data that were answered. Its columns become choices."""
    answers = interview.resolve()
    places = [folder] if interview.previous else [folder, Path.cwd()]
    known = interview.given.keys() | interview.asked().keys()
    found = look_at_data(interview.catalog, answers, places, known)
    interview.columns = find_columns(found)
    return found


# asking them


def _ask(interview: Interview, question: Question, folder: Path) -> Answers | None:
    """The answers to a question, which is repeated until they are allowed. None to go back."""
    typed: Typed | None = None
    error = ""
    root = folder if interview.previous else Path.cwd()  # of paths, see `_look`
    while True:
        typed = _prompt(question, typed, error, root, can_go_back=bool(interview.replies))
        if typed is None:
            return None
        try:
            return interview.parse(question, typed)
        except AnswerError as refused:
            error = (
                in_words(interview.catalog, refused) if question.key == FEATURES else str(refused)
            )


def _confirm(interview: Interview, folder: Path) -> str:
    """Show all answers. Returns 'yes', 'back' or 'cancel'."""
    lines = _print_summary(interview)
    back = (Choice("back", "to the last question"),) if interview.replies else ()
    new = interview.previous is None
    question = Question(
        key="",
        text=f"Write {folder}?" if new else f"Update {folder}?",
        default="yes",
        parse=lambda typed: {},
        choices=(
            Choice("yes", "write it" if new else "update it"),
            *back,
            Choice("cancel", "write nothing" if new else "change nothing"),
        ),
    )
    wish = _prompt(question, None, "", folder, can_go_back=bool(interview.replies))
    if wish in (None, "back"):
        _erase(lines)
        return "back"
    return str(wish)


# the screen

_FEW_CHOICES = 8  # that one sees at once

_STYLE = questionary.Style(
    [
        ("qmark", "fg:ansicyan"),
        ("question", "bold"),
        ("pointer", "fg:ansicyan bold"),
        ("selected", "noreverse fg:ansicyan"),
        ("answer", "fg:ansicyan"),
        ("value", "bold"),
        ("instruction", "fg:ansibrightblack"),
        ("hint", "fg:ansibrightblack"),
        ("error", "fg:ansired"),
    ]
)


def _prompt(
    question: Question, typed: Typed | None, error: str, root: Path, *, can_go_back: bool
) -> Typed | None:
    """What the user types or picks, starting from what they `typed` before. None to go back."""
    prompt = _make_prompt(question, typed, root)
    menu = Menu(prompt.application, question.descriptions) if question.choices else None
    if menu and error:
        menu.point_at(error.partition(":")[0])
    _add_notes(prompt.application, _notes(question, error, can_go_back), menu)
    _add_keys(prompt.application, question, can_go_back, menu)
    # a reply is shown on one line; a question that was left to go back is not shown
    prompt.application.erase_when_done = True
    reply: Typed | None = prompt.unsafe_ask()
    return reply.strip() if isinstance(reply, str) else reply


def _make_prompt(question: Question, typed: Typed | None, root: Path) -> questionary.Question:
    picked = question.default if typed is None else typed
    label = _label(question)
    if isinstance(picked, list):
        return questionary.checkbox(
            question.text, _menu(question, picked), instruction=label, style=_STYLE
        )
    if question.choices:
        return questionary.select(
            question.text,
            _menu(question, []),
            default=picked,
            instruction=label or " ",  # questionary would put its own text in place of an empty one
            style=_STYLE,
        )
    default = f" [{question.default}]" if question.default else ""
    return questionary.text(
        question.text,
        default=str(typed or ""),
        instruction=label + default,
        style=_STYLE,
        completer=_complete_paths(root) if question.is_path else None,
        complete_style=CompleteStyle.COLUMN,
        complete_while_typing=False,
    )


def _complete_paths(root: Path) -> PathCompleter:
    return PathCompleter(get_paths=lambda: [str(root)], expanduser=True)


def _menu(question: Question, checked: list[str]) -> list[questionary.Choice]:
    width = max(_columns() - 8, 20)  # beside the pointer and the box
    rows = []
    for choice in question.choices:
        value = choice.value
        text = f"{value} - {choice.help}" if choice.help else value
        help = textwrap.fill(text, width, subsequent_indent=" " * 7).removeprefix(value)
        title = [("class:value", value), ("class:text", help)]
        rows.append(questionary.Choice(title, value=value, checked=value in checked))
    return rows


def _notes(question: Question, error: str, can_go_back: bool) -> FormattedText:
    """The lines below a prompt: what is wrong, some help, the keys to press."""
    if isinstance(question.default, list):
        keys = ["Up, Down, PageUp, PageDown: move", "Space: on or off", "type: filter"]
        keys += ["Enter: done"]
    elif question.choices:
        keys = ["Up, Down: move", *(["type: filter"] if _is_long(question) else [])]
        keys += ["Enter: select"]
    else:
        keys = [f"Enter: {question.default}"] if question.default else []
        keys += ["Tab: complete a path"] if question.is_path else []
    keys += ["Esc: back"] if can_go_back else []
    keys += ["Ctrl-C: cancel"]
    notes = [
        ("class:error", error),
        ("class:hint", question.help),
        ("class:hint", " · ".join(keys)),
    ]
    width = max(_columns() - 4, 20)
    lines = [(style, line) for style, text in notes for line in textwrap.wrap(text, width)]
    return FormattedText((style, f"\n  {line}") for style, line in lines)


def _is_long(question: Question) -> bool:
    """Whether typing filters the choices: in a short menu, letters would only surprise."""
    return isinstance(question.default, list) or len(question.choices) > _FEW_CHOICES


def _add_notes(application: Application[Any], notes: FormattedText, menu: Menu | None) -> None:
    layout = application.layout
    for window in layout.find_all_windows():
        window.dont_extend_height = to_filter(True)  # otherwise the notes are far below
    parts: list[AnyContainer] = [layout.container]
    if menu:  # its line is in place of the empty one above the notes
        parts.append(below(menu))
        notes = FormattedText([(notes[0][0], notes[0][1].removeprefix("\n")), *notes[1:]])
    parts.append(Window(FormattedTextControl(notes), wrap_lines=True, dont_extend_height=True))
    split = HSplit(parts, align=VerticalAlign.TOP)
    application.layout = Layout(split, layout.current_window)


def _add_keys(
    application: Application[Any], question: Question, can_go_back: bool, menu: Menu | None
) -> None:
    keys = KeyBindings()

    @keys.add("escape", eager=True)
    def _(event: KeyPressEvent) -> None:
        if menu and menu.filter:
            menu.narrow("")
        elif event.current_buffer.complete_state:
            event.current_buffer.cancel_completion()
        elif can_go_back:
            event.app.exit(result=None)

    for choice in question.choices:
        if choice.value in ("yes", "no"):

            @keys.add(choice.value[0], eager=True)
            def _(event: KeyPressEvent, value: str = choice.value) -> None:
                event.app.exit(result=value)

    every = [own] if (own := application.key_bindings) else []
    every += [menu.keys()] if menu else []
    if menu and _is_long(question):
        every.append(menu.filter_keys(several=isinstance(question.default, list)))
    application.key_bindings = merge_key_bindings([*every, keys])
    application.ttimeoutlen = (
        0.1  # seconds until Escape is no longer taken for the start of another key
    )


def _label(question: Question) -> str:
    """The key in parentheses, on a line of its own if it does not fit."""
    if not question.key or question.key == FINER:
        return ""
    names = "features.NAME.enabled" if question.key == FEATURES else question.key
    if question.accelerate_key:
        names += f", in Accelerate {question.accelerate_key}"
    label = f"({names})"
    default = "" if question.choices else f" [{question.default}] "
    fits = get_cwidth(f"? {question.text}  {label}{default}") < _columns()
    return label if fits else f"\n  {label}"


def _print_reply(question: Question, answers: Answers) -> int:
    """Leave the question and its reply on the screen. Returns how many lines they take."""
    if question.key == FEATURES:
        value = ", ".join(
            c.value for c, on in zip(question.choices, answers.values(), strict=True) if on
        )
    else:
        value = ", ".join(as_shown(answer) for answer in answers.values())
    columns = _columns()
    head, key = f"? {question.text} ", f"({question.key}) " if "." in question.key else ""
    key = key if get_cwidth(head + key + value) < columns else ""
    rows = textwrap.wrap(
        value or "none",
        columns - 1,
        initial_indent=head + key,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    value = "\n".join(rows).removeprefix(head + key)
    parts = [("class:question", head), ("class:instruction", key), ("class:answer", value)]
    print_formatted_text(FormattedText(parts), style=_STYLE)
    return sum(-(-get_cwidth(row) // columns) for row in rows)


def _print_findings(findings: list[Finding]) -> int:
    """Say what was found in the data. Returns how many lines that takes."""
    rows = [
        row
        for finding in findings
        for line in str(finding).splitlines()
        for row in textwrap.wrap(line, _columns() - 1, initial_indent="  ", subsequent_indent="  ")
    ]
    for row in rows:
        print_formatted_text(FormattedText([("class:hint", row)]), style=_STYLE)
    return len(rows)


def _print_summary(interview: Interview) -> int:
    """Show all answers that have an effect. Returns how many lines they take."""
    console = Console(highlight=False, width=_columns())
    with console.capture() as capture:
        console.print()
        console.print(summary_table(interview.catalog, interview.resolve(), interview.previous))
        console.print()
    text = capture.get()
    print(text, end="", flush=True)
    return text.count("\n")


def summary_table(catalog: Catalog, answers: Answers, previous: Answers | None = None) -> Table:
    """A row for each table of scaffold.toml; what differs from the default is highlighted.

    In an update, what changes is highlighted, with its previous value.
    """
    usual = previous or resolve(catalog, {"project.task": answers["project.task"]})
    chosen = [
        feature
        for feature in catalog.features.values()
        if not feature.switch and fits(catalog, feature, answers)
    ]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    on = [f"features.{feature.name}" for feature in chosen if is_on(feature, answers)]
    for name in [*catalog.plain_tables, *on]:
        settings = [
            _summary_cell(option, answers, usual, previous is not None)
            for option in catalog.settings.values()
            if option.key.rpartition(".")[0] == name
            and option.name != "enabled"
            and applies(catalog, option, answers)
        ]
        if name in on and usual.get(f"{name}.enabled") is False and previous is not None:
            settings.insert(0, Text("turned on", style="cyan"))
        if settings or name in on:
            grid.add_row(name, Text(", ").join(settings) if settings else "on")
    off = [
        Text(f.name, style="cyan" if previous and previous.get(f.switch_key) else "")
        for f in chosen
        if not is_on(f, answers)
    ]
    if off:
        grid.add_row("off", Text(", ").join(off))
    return grid


def _summary_cell(option: Option, answers: Answers, usual: Answers, is_update: bool) -> Text:
    value, other = answers[option.key], usual.get(option.key)
    if value == other:
        return Text(f"{option.name}={as_shown(value)}")
    was = f" (was {as_shown(other)})" if is_update and other is not None else ""
    return Text(f"{option.name}={as_shown(value)}{was}", style="cyan")


def _columns() -> int:
    """The width of the terminal itself: the variable COLUMNS may say something else."""
    return get_app_session().output.get_size().columns


def _erase(lines: int) -> None:
    """Erase the last lines of the screen."""
    output = get_app_session().output
    output.cursor_up(lines)
    output.erase_down()
    output.flush()
