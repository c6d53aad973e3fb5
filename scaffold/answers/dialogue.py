"""The dialogue of `scaffold new` and `scaffold update --ask`: asks for answers not given.

Which questions are open follows from the answers so far, and is worked out again after each one.
Going back takes back the last reply, so that no answer outlives the question it belongs to.
"""

import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import questionary
from prompt_toolkit import print_formatted_text
from prompt_toolkit.application import Application, get_app_session
from prompt_toolkit.filters import to_filter
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, VerticalAlign, Window
from prompt_toolkit.utils import get_cwidth
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scaffold.answers import hardware
from scaffold.answers.catalog import Catalog, Choice, Component, Option, Value
from scaffold.answers.schema import (
    Answers,
    applies,
    check,
    fits,
    is_on,
    parse_text,
    resolve,
    schema,
    switch_key,
)
from scaffold.errors import AnswerError

FEATURES, FINER = "features", "finer"  # the keys of the two questions about no single setting

Typed = str | list[str]  # a list from a menu with boxes


@dataclass(frozen=True)
class Question:
    """One prompt: a line to type on, or a menu where there are choices."""

    key: str
    text: str
    default: Typed
    parse: Callable[[Any], Answers]  # raises AnswerError
    choices: tuple[Choice, ...] = ()
    help: str = ""
    accelerate_key: str = ""  # where Accelerate calls it by another name


@dataclass(frozen=True)
class Reply:
    answers: Answers
    lines: int  # that show it on the screen


@dataclass
class Dialogue:
    """What is known so far."""

    catalog: Catalog
    given: Answers
    remembered: Answers  # offered in place of defaults: what was answered before going back
    replies: dict[str, Reply] = field(default_factory=dict)  # by question, in their order
    previous: Answers | None = None  # of the project that is updated; None: it is a new one
    kept: Answers = field(default_factory=dict)  # of what is offered, what stays unless it is asked

    def asked(self) -> Answers:
        return {key: v for reply in self.replies.values() for key, v in reply.answers.items()}

    def resolve(self, more: Mapping[str, Value] | None = None) -> Answers:
        """All answers as they stand, with defaults. Raises AnswerError if `more` can't be."""
        answers = {**self.given, **self.asked(), **(more or {})}
        answers.pop(FINER, None)
        resolved = resolve(self.catalog, answers)
        options = schema(self.catalog)
        kept = {
            key: value
            for key, value in self.kept.items()
            if key not in answers and applies(self.catalog, options[key], resolved)
        }
        return resolve(self.catalog, {**kept, **answers}) if kept else resolved

    def record(self, question: Question, answers: Answers) -> None:
        defaults = {FINER: False, **self.resolve()}
        for key, value in answers.items():
            # a default that was accepted is left out: it may follow from answers that change
            self.remembered.pop(key, None)
            if value != defaults[key]:
                self.remembered[key] = value
        self.replies[question.key] = Reply(answers, _print_reply(question, answers))

    def take_back(self) -> None:
        _, reply = self.replies.popitem()
        _erase(reply.lines)


def ask_answers(
    catalog: Catalog,
    given: Answers,
    folder: Path,
    previous: Answers | None = None,
    imported: Collection[str] = (),
) -> Answers | None:
    """All answers: the given ones, and for the rest what a person answers in the terminal.

    The `previous` ones are those of a project that is to be updated: they are offered in place of
    defaults, and stay where nothing is asked. So are those of the given ones that were `imported`
    from a file of Accelerate and that only some launchers need, if the launcher is yet to be
    chosen. None if the person leaves. Raises AnswerError for given answers that are not allowed.
    """
    options = schema(catalog)
    offered = {key: given[key] for key in imported if hardware.LAUNCHER in options[key].when}
    if hardware.LAUNCHER in given:
        offered = {}
    own = _name_after(catalog, folder) if previous is None else _own_answers(catalog, previous)
    own |= offered
    dialogue = Dialogue(
        catalog,
        given={key: value for key, value in given.items() if key not in offered},
        remembered=dict(own),
        previous=previous,
        kept={k: v for k, v in own.items() if options[k].finer or not options[k].question},
    )
    dialogue.resolve()
    try:
        # raw from the first question to the last: a key that is pressed between two of them is
        # neither shown nor lost, and Ctrl-C is a key like others
        with get_app_session().input.raw_mode():
            return _converse(dialogue, folder)
    except (KeyboardInterrupt, EOFError):
        return None


def _name_after(catalog: Catalog, folder: Path) -> Answers:
    """The folder's name as the project's, if it can be."""
    try:
        return {"project.name": check(schema(catalog)["project.name"], folder.name)}
    except AnswerError:
        return {}


def _own_answers(catalog: Catalog, previous: Answers) -> Answers:
    """The previous answers that had an effect, but those that follow from the name alone."""
    options = schema(catalog)
    allowed: Answers = {}
    for key, option in options.items():
        with suppress(AnswerError):  # an answer of another version
            allowed[key] = check(option, previous.get(key, option.default))
    usual = resolve(catalog, {k: v for k, v in allowed.items() if k == "project.name"})
    allowed = {**usual, **allowed}
    return {
        key: allowed[key]
        for key, option in options.items()
        if key in previous
        and applies(catalog, option, allowed)
        and (allowed[key] != usual[key] or key == "project.name")
    }


def _converse(dialogue: Dialogue, folder: Path) -> Answers | None:
    while True:
        key = next((key for key in open_questions(dialogue) if key not in dialogue.replies), "")
        if key:
            question = make_question(dialogue, key)
            answers = _ask(dialogue, question)
            if answers is not None:
                dialogue.record(question, answers)
                continue
        else:
            wish = _confirm(dialogue, folder)
            if wish != "back":
                return dialogue.resolve() if wish == "yes" else None
        dialogue.take_back()


# which questions there are


def open_questions(dialogue: Dialogue) -> Iterator[str]:
    """The keys of the questions that the answers so far leave, answered or not, in order."""
    options = _options_to_ask(dialogue)
    coarse = [option.key for option in options if not option.finer]
    finer = [option.key for option in options if option.finer]
    plain = dialogue.catalog.plain_tables
    yield from (key for key in coarse if key.rpartition(".")[0] in plain)
    if _features_to_ask(dialogue):
        yield FEATURES
    yield from (key for key in coarse if key.rpartition(".")[0] not in plain)
    if finer:
        yield FINER
    if dialogue.asked().get(FINER):
        yield from finer


def _options_to_ask(dialogue: Dialogue) -> list[Option]:
    answers = dialogue.resolve()
    switches = [switch_key(feature) for feature in _features_to_ask(dialogue)]
    return [
        option
        for option in schema(dialogue.catalog).values()
        if option.question
        and option.key not in {*dialogue.given, *switches}
        and applies(dialogue.catalog, option, answers)
        and _is_open(dialogue, option, answers)
    ]


def _features_to_ask(dialogue: Dialogue) -> list[Component]:
    answers = dialogue.resolve()
    features = sorted(dialogue.catalog.features.values(), key=lambda feature: feature.name)
    return [
        feature
        for feature in features
        if not feature.switch
        and switch_key(feature) not in dialogue.given
        and fits(dialogue.catalog, feature, answers)
    ]


def _is_open(dialogue: Dialogue, option: Option, answers: Mapping[str, Value]) -> bool:
    """Whether the other answers leave more than one value."""
    if option.key == "hardware.num_processes":
        return answers["hardware.distributed_type"] != "NO"
    if option.type in ("bool", "choice"):
        return len(_allowed_choices(dialogue, option)) > 1
    return True


def _allowed_choices(dialogue: Dialogue, option: Option) -> tuple[Choice, ...]:
    """The choices of a menu that can stand beside the answers so far."""
    choices = (Choice("yes", ""), Choice("no", "")) if option.type == "bool" else option.choices
    return tuple(choice for choice in choices if _is_allowed(dialogue, option, choice))


def _is_allowed(dialogue: Dialogue, option: Option, choice: Choice) -> bool:
    try:
        dialogue.resolve({option.key: parse_text(option, choice.value)})
    except AnswerError:
        return False
    return True


# what they say


def make_question(dialogue: Dialogue, key: str) -> Question:
    defaults = dialogue.resolve() | dialogue.remembered
    if key == FEATURES:
        return _feature_question(_features_to_ask(dialogue), defaults)
    if key == FINER:
        finer = [option.key for option in _options_to_ask(dialogue) if option.finer]
        tables = dict.fromkeys(key.split(".")[-2] for key in finer)
        keep = "keep their defaults" if dialogue.previous is None else "keep them as they are"
        return _finer_question(list(tables), bool(defaults.get(FINER)), keep)
    option = schema(dialogue.catalog)[key]
    choices = _allowed_choices(dialogue, option)
    default = _show(defaults[key])
    if choices and default not in [choice.value for choice in choices]:
        # what was answered before going back is no longer allowed
        default = _show(dialogue.resolve()[key])
    accelerate_key = option.accelerate.rpartition(".")[2]
    return Question(
        key=key,
        text=option.question,
        default=default,
        parse=lambda typed: {key: parse_text(option, typed or default)},
        choices=choices,
        help="" if choices else option.comment,
        accelerate_key="" if accelerate_key == option.name else accelerate_key,
    )


def _feature_question(features: list[Component], defaults: Answers) -> Question:
    return Question(
        key=FEATURES,
        text="Which features?",
        default=[feature.name for feature in features if is_on(feature, defaults)],
        parse=lambda typed: {switch_key(feature): feature.name in typed for feature in features},
        choices=tuple(Choice(feature.name, feature.help) for feature in features),
    )


def _finer_question(tables: list[str], default: bool, keep: str) -> Question:
    return Question(
        key=FINER,
        text="Go through the finer settings?",
        default=_show(default),
        parse=lambda typed: {FINER: typed == "yes"},
        choices=(Choice("no", keep), Choice("yes", f"of {', '.join(tables)}")),
    )


def _show(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


# asking them


def _ask(dialogue: Dialogue, question: Question) -> Answers | None:
    """The answers to a question, which is asked until they are allowed. None to go back."""
    typed: Typed | None = None
    error = ""
    while True:
        typed = _prompt(question, typed, error, can_go_back=bool(dialogue.replies))
        if typed is None:
            return None
        try:
            answers = question.parse(typed)
            dialogue.resolve(answers)
        except AnswerError as refused:
            error = str(refused)
        else:
            return answers


def _confirm(dialogue: Dialogue, folder: Path) -> str:
    """Show all answers. Returns 'yes', 'back' or 'cancel'."""
    lines = _print_summary(dialogue)
    back = (Choice("back", "to the last question"),) if dialogue.replies else ()
    new = dialogue.previous is None
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
    wish = _prompt(question, None, "", can_go_back=bool(dialogue.replies))
    if wish in (None, "back"):
        _erase(lines)
        return "back"
    return str(wish)


# the screen

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
    question: Question, typed: Typed | None, error: str, *, can_go_back: bool
) -> Typed | None:
    """What a person types or picks, beginning with what they `typed` before. None to go back."""
    prompt = _make_prompt(question, typed)
    _add_notes(prompt.application, _notes(question, error, can_go_back))
    _add_keys(prompt.application, question, can_go_back)
    # a reply is shown in one line, and nothing of a question that was left to go back
    prompt.application.erase_when_done = True
    reply: Typed | None = prompt.unsafe_ask()
    return reply.strip() if isinstance(reply, str) else reply


def _make_prompt(question: Question, typed: Typed | None) -> questionary.Question:
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
        question.text, default=str(typed or ""), instruction=label + default, style=_STYLE
    )


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
    """What stands below a prompt: what is wrong, a word of help, the keys to press."""
    if isinstance(question.default, list):
        keys = ["Up, Down: move", "Space: on or off", "Enter: done"]
    elif question.choices:
        keys = ["Up, Down: move", "Enter: take it"]
    else:
        keys = [f"Enter: {question.default}"] if question.default else []
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


def _add_notes(application: Application[Any], notes: FormattedText) -> None:
    layout = application.layout
    for window in layout.find_all_windows():
        window.dont_extend_height = to_filter(True)  # or the notes stand far below
    below = Window(FormattedTextControl(notes), wrap_lines=True, dont_extend_height=True)
    application.layout = Layout(
        HSplit([layout.container, below], align=VerticalAlign.TOP), layout.current_window
    )


def _add_keys(application: Application[Any], question: Question, can_go_back: bool) -> None:
    keys = KeyBindings()

    @keys.add("escape", eager=True)
    def _(event: KeyPressEvent) -> None:
        if can_go_back:
            event.app.exit(result=None)

    for choice in question.choices:
        if choice.value in ("yes", "no"):

            @keys.add(choice.value[0], eager=True)
            def _(event: KeyPressEvent, value: str = choice.value) -> None:
                event.app.exit(result=value)

    own = application.key_bindings
    application.key_bindings = merge_key_bindings([*([own] if own else []), keys])
    application.ttimeoutlen = (
        0.1  # seconds until Escape alone is no longer the start of another key
    )


def _label(question: Question) -> str:
    """The key in brackets, on its own line where it would be broken at the end of one."""
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
    """Leave a line of a question on the screen. Returns how many it takes there."""
    if question.key == FEATURES:
        value = ", ".join(
            c.value for c, on in zip(question.choices, answers.values(), strict=True) if on
        )
    else:
        value = ", ".join(_show(answer) for answer in answers.values())
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


def _print_summary(dialogue: Dialogue) -> int:
    """Show all answers that have an effect. Returns how many lines they take."""
    console = Console(highlight=False, width=_columns())
    with console.capture() as capture:
        console.print()
        console.print(summary_table(dialogue.catalog, dialogue.resolve(), dialogue.previous))
        console.print()
    text = capture.get()
    print(text, end="", flush=True)
    return text.count("\n")


def summary_table(catalog: Catalog, answers: Answers, previous: Answers | None = None) -> Table:
    """A row for each table of scaffold.toml, in which stands out what is not the default.

    In an update, it is what changes that stands out, with what it was.
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
            for option in schema(catalog).values()
            if option.key.rpartition(".")[0] == name
            and option.name != "enabled"
            and applies(catalog, option, answers)
        ]
        if name in on and usual.get(f"{name}.enabled") is False and previous is not None:
            settings.insert(0, Text("turned on", style="cyan"))
        if settings or name in on:
            grid.add_row(name, Text(", ").join(settings) if settings else "on")
    off = [
        Text(f.name, style="cyan" if previous and previous.get(switch_key(f)) else "")
        for f in chosen
        if not is_on(f, answers)
    ]
    if off:
        grid.add_row("off", Text(", ").join(off))
    return grid


def _summary_cell(option: Option, answers: Answers, usual: Answers, is_update: bool) -> Text:
    value, other = answers[option.key], usual.get(option.key)
    if value == other:
        return Text(f"{option.name}={_show(value)}")
    was = f" (was {_show(other)})" if is_update and other is not None else ""
    return Text(f"{option.name}={_show(value)}{was}", style="cyan")


def _columns() -> int:
    """The width of the terminal itself, which the variable COLUMNS may contradict."""
    return get_app_session().output.get_size().columns


def _erase(lines: int) -> None:
    """Take back the last lines of the screen."""
    output = get_app_session().output
    output.cursor_up(lines)
    output.erase_down()
    output.flush()
