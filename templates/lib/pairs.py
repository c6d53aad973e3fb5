#: into data.py at pairs
"""Pairs of answers, one of which is preferred: rows in the forms of several datasets."""

import random
import re
from dataclasses import dataclass, field

from lib.chats import write_question
from lib.conversations import SETTINGS, Messages, add_system, read_extras, read_turns
from lib.json_lines import read_objects
from lib.notes import note_ignored, rename_keys


@dataclass(frozen=True)
class Pair:
    """Two conversations that end with the preferred and with the rejected answer."""

    chosen: Messages
    rejected: Messages
    place: str  # where it was found, for error messages
    settings: dict = field(default_factory=dict)  # for the chat template, such as tools


def write_pairs() -> list[Pair]:
    """Made-up questions, each with its answer and a wrong one."""
    rng, pairs = random.Random(0), list[Pair]()
    for question, answer in dict(write_question(rng) for _ in range(4_000)).items():
        prompt = [{"role": "user", "content": question}]
        chosen, rejected = (
            [*prompt, {"role": "assistant", "content": text}]
            for text in (answer, make_mistake(answer, rng))
        )
        pairs.append(Pair(chosen, rejected, f"pair {len(pairs) + 1}"))
    return pairs


def make_mistake(answer: str, rng: random.Random) -> str:
    """The answer with one digit or letter changed."""
    place = rng.randrange(len(answer))
    others = "0123456789" if answer.isdigit() else "abcdefgh"
    wrong = rng.choice(others.replace(answer[place], ""))
    return answer[:place] + wrong + answer[place + 1 :]


def read_pair(row: dict, place: str) -> Pair:
    """The `prompt` of a row with its answers `chosen` and `rejected`."""
    chosen, rejected = (read_messages(row, place, column) for column in ("chosen", "rejected"))
    if chosen[:-1] != rejected[:-1]:
        raise SystemExit(
            f"{place}: chosen and rejected answer different prompts. They may only differ in the "
            "last message: cut both after the first answer that differs."
        )
    return Pair(chosen, rejected, place, read_extras(row, place))


def read_messages(row: dict, place: str, column: str = "chosen") -> Messages:
    """The conversation of a row with the answer of a column.

    The prompt and the answer are texts or lists of messages. The answer may repeat the prompt, as
    in many datasets; the column `prompt` is then optional. Texts may be whole dialogues as in
    Anthropic's HH, and a prompt may be called `question`, as in Orca.
    """
    if not {"chosen", "rejected"} <= row.keys():
        raise SystemExit(
            f"{place} has {', '.join(row) or 'nothing'}: it needs prompt, chosen and rejected. "
            "If they have other names, set --rename, such as input=prompt,best=chosen."
        )
    prompt, answer = row.get("prompt"), split_dialogue(row[column])
    prompt = row.get("question") if prompt is None else prompt
    prompt = [] if prompt is None else split_dialogue(prompt)
    if not isinstance(prompt, str | list) or not isinstance(answer, str | list):
        raise SystemExit(f"{place}: prompt and {column} must be texts or lists of messages.")
    messages = read_turns([prompt], place)
    answers = [{"role": "assistant", "content": answer}] if isinstance(answer, str) else answer
    answers = read_turns([answers], place)
    first = next((n for n, one in enumerate(answers) if one["role"] == "assistant"), 0)
    if first == 0 or not messages:
        messages += answers
    elif messages in (answers[first - len(messages) : first], answers[: len(messages)]):
        messages = answers  # perhaps after a system message
    else:
        raise SystemExit(f"{place}: {column} repeats another prompt: leave one of them out.")
    if not answers or answers[-1]["role"] != "assistant":
        raise SystemExit(f"{place}: {column} does not end with an assistant message.")
    if answers[-1].get("weight") == 0:
        raise SystemExit(f"{place}: {column} ends with an answer of weight 0: leave the row out.")
    if len(messages) == 1:
        raise SystemExit(f"{place} has no prompt.")
    return add_system(messages, row, place)


def split_dialogue(text: object) -> object:
    """The messages of a dialogue as in Anthropic's HH, https://arxiv.org/abs/2204.05862.

    It begins with two line breaks and "Human: ". Anything else is returned as it is.
    """
    if not isinstance(text, str) or not text.startswith("\n\nHuman:"):
        return text
    _, *parts = re.split(r"\n\n(Human|Assistant):", text)
    speakers = {"Human": "user", "Assistant": "assistant"}
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [{"role": speakers[name], "content": words.strip()} for name, words in pairs]


def read_pairs(rows: list[tuple[str, dict]], source: str, config) -> list[Pair]:
    """The pairs of a file or a split. Says which keys are ignored."""
    rows = rename_keys(rows, config.rename)
    if not rows:
        raise SystemExit(f"{source} has no pairs.")
    known = {"prompt", "chosen", "rejected", *SETTINGS}
    if not any(row.get("prompt") is not None and row.get("question") for _, row in rows):
        known.add("question")  # a prompt by another name
    note_ignored(source, (name for _, row in rows for name in row), known)
    return [read_pair(row, place) for place, row in rows]


def load_file(path: str, config) -> list[Pair]:
    """The pairs of a file of JSON lines, a list in JSON, or Parquet."""
    return read_pairs(list(read_objects(path)), path, config)
