#: into data.py at row_readers
"""Rows of conversations, in the forms that other tools write."""

import json
from dataclasses import dataclass, field

from lib.notes import note

Messages = list[dict]  # each with a `role`, such as user or assistant, and a `content`
ROLES = {"human": "user", "gpt": "assistant", "model": "assistant", "observation": "tool"}
SETTINGS = ("system", "tools", "chat_template_kwargs")  # more keys of a row


@dataclass(frozen=True)
class Conversation:
    messages: Messages
    place: str  # where it was found, for error messages
    settings: dict = field(default_factory=dict)  # for the chat template, such as tools


def read_turns(turns: list, place: str) -> Messages:
    """The messages of turns: lists of messages, or texts of the user and the assistant in turn."""
    given: list = []
    for number, turn in enumerate(turns):
        role = ("user", "assistant")[number % 2]
        given += turn if isinstance(turn, list) else [{"role": role, "content": turn}]
    return [read_message(one, f"{place}: message {n}") for n, one in enumerate(given, start=1)]


def read_message(message: object, place: str) -> dict:
    """A message, also in the form of ShareGPT, which has `from` and `value`."""
    wrong = f"{place} needs a role and a content, both texts."
    if not isinstance(message, dict):
        raise SystemExit(wrong)
    row = {key: value for key, value in message.items() if value is not None}
    if "from" in row and "value" in row:
        row = {"role": row.pop("from"), "content": row.pop("value"), **row}
    role, content = row.get("role"), row.get("content")
    if isinstance(content, list):  # parts
        content = join_parts(content, place)
    if not row.get("tool_calls"):
        row.pop("tool_calls", None)  # an empty list
    else:
        row["tool_calls"] = read_calls(row["tool_calls"], place)
    is_call = "tool_calls" in row and content is None  # it needs no text
    if not is_call and (not isinstance(role, str) or not isinstance(content, str)):
        raise SystemExit(wrong)
    if role in ("function_call", "tool_call"):
        raise SystemExit(f"{place}: write a {role} as tool_calls of a message of the assistant.")
    role = str(role)
    name = ROLES.get(role.lower(), role)
    name = name.lower() if name.lower() in ("system", "user", "assistant") else name
    if name != role:
        note(f"{place.partition(',')[0]}: messages of {role} are read as those of {name}")
    if row.get("weight", 1) not in (0, 1) or ("weight" in row and name != "assistant"):
        raise SystemExit(f"{place}: a weight is 0 or 1, and belongs to a message of the assistant.")
    return {**row, "role": name, "content": content}


def read_calls(calls: object, place: str) -> list[dict]:
    """Calls of tools, each with a function that has a name."""
    calls = calls if isinstance(calls, list) else [calls]
    wrapped = [
        (
            {"type": "function", "function": call}
            if isinstance(call, dict) and "name" in call
            else call
        )
        for call in calls
    ]
    functions = [isinstance(call, dict) and call.get("function") for call in wrapped]
    if not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in functions):
        raise SystemExit(f"{place}: each of its tool_calls needs a function with a name.")
    return [call for call in wrapped if isinstance(call, dict)]


def join_parts(parts: list, place: str) -> str:
    """The text of a content in parts."""
    given = [part.get("text") for part in parts if isinstance(part, dict)]
    texts = [text for text in given if isinstance(text, str)]
    if len(texts) < len(parts):
        raise SystemExit(f"{place} has parts that are not text. Leave such conversations out.")
    return "".join(texts)


def add_system(messages: Messages, row: dict, place: str) -> Messages:
    """The messages, after the `system` of the row."""
    system = row.get("system") or ""
    if not isinstance(system, str):
        raise SystemExit(f"{place}: its system is not text, but {system!r:.60}.")
    if system and messages and messages[0]["role"] == "system":
        raise SystemExit(f"{place} has a system message and the key system: leave one of them out.")
    return [{"role": "system", "content": system}, *messages] if system else messages


def read_extras(row: dict, place: str) -> dict:
    """What a row has for the chat template: its `tools`, a list or its JSON, and more values."""
    tools, values = row.get("tools"), row.get("chat_template_kwargs")
    try:
        tools = json.loads(tools or "[]") if isinstance(tools, str) else tools
        values = json.loads(values or "{}") if isinstance(values, str) else values
    except ValueError as error:
        raise SystemExit(f"{place}: its tools are not JSON: {error}") from error
    if not isinstance(tools, list | None) or not isinstance(values, dict | None):
        raise SystemExit(f"{place}: tools must be a list, and chat_template_kwargs an object.")
    taken = {"tools", "messages", "chat_template", "add_generation_prompt"} & {*(values or {})}
    if row.get("functions") or taken:
        raise SystemExit(f"{place}: write its {', '.join(sorted(taken)) or 'functions'} as tools.")
    return {**(values or {}), **({"tools": tools} if tools else {})}


def check_keys(messages: Messages, settings: dict, template: str) -> None:
    """Raise ValueError if a chat template reads no tools, and name other keys that it ignores."""
    names = dict.fromkeys([*settings, *(name for message in messages for name in message)])
    for name in names:
        if name in ("role", "content", "weight"):
            continue
        if name not in template and name in ("tools", "tool_calls"):
            raise ValueError(f"the chat template does not write {name}.")
        if name not in template and name not in ("id", "tool_call_id"):
            note(f"ignored, as the chat template does not read it: {name}")


def split_thoughts(messages: Messages) -> list[Messages]:
    """A conversation for each answer if an earlier one has thoughts: templates leave these out."""
    answers = [n for n, message in enumerate(messages) if message["role"] == "assistant"]
    earlier = [messages[n] for n in answers[:-1]]
    if not any("reasoning_content" in m or "</think>" in (m["content"] or "") for m in earlier):
        return [messages]
    parts = [(messages[:n], messages[n]) for n in answers if messages[n].get("weight") != 0]
    return [[*leave_out_answers(before), answer] for before, answer in parts]


def leave_out_answers(messages: Messages) -> Messages:
    """The messages, none of which counts."""
    return [{**one, "weight": 0} if one["role"] == "assistant" else one for one in messages]
