"""A look into rows of conversations: what they hold, and the first row that training refuses."""

from collections import Counter
from collections.abc import Mapping, Sequence

CHATS = (("messages",), ("conversations",), ("prompt", "completion"), ("instruction", "output"))
ROLES = {"human": "user", "gpt": "assistant", "model": "assistant"}

Objects = Sequence[Mapping[str, object]]


def look_at_chats(rows: Objects) -> tuple[str, str]:
    """How many messages of whom conversations have, and the first problem; both may be empty."""
    roles: Counter[str] = Counter()
    for number, row in enumerate(rows, start=1):
        keys = next((keys for keys in CHATS if row.keys() >= {*keys}), ())
        if not keys:
            return "", f"row {number} has no messages, and no prompt and completion."
        turns = [row[key] for key in keys]
        if problem := _find_problem(turns, listed=len(keys) == 1, roles=roles):
            return "", f"row {number}: {problem}"
    return _describe(roles), ""


def look_at_answers(rows: Objects) -> tuple[str, str]:
    """The same of pairs of answers, one of which is chosen."""
    for number, row in enumerate(rows, start=1):
        if not row.keys() >= {"chosen", "rejected"}:
            return "", f"row {number} has no chosen and rejected."
        for key in ("chosen", "rejected"):
            if problem := _find_problem([row[key]], listed=False, roles=Counter()):
                return "", f"row {number}: {key}: {problem}"
    return "", ""


def _describe(roles: Counter[str]) -> str:
    shown = ", ".join(f"{role[:30]} ({count:,})" for role, count in roles.most_common(5))
    return f"{roles.total():,} messages: {shown}" if roles else ""


def _find_problem(turns: list[object], listed: bool, roles: Counter[str]) -> str:
    messages: list[object] = []
    for number, turn in enumerate(turns):
        if listed and not (isinstance(turn, list) and turn):
            return "messages is not a list, or is empty."
        role = ("user", "assistant")[number % 2]
        messages += turn if isinstance(turn, list) else [{"role": role, "content": turn}]
    for number, message in enumerate(messages, start=1):
        if not (role := _read_role(message)):
            return f"message {number} needs a role and a content, both texts."
        roles[role] += 1
    if listed and "assistant" not in {_read_role(message) for message in messages}:
        return "it has no assistant message."
    return ""


def _read_role(message: object) -> str:
    """Who speaks, or nothing if a message can't be read."""
    if not isinstance(message, dict):
        return ""
    role = message.get("role", message.get("from"))
    content = message.get("content", message.get("value"))
    if isinstance(content, list):
        content = "".join(str(p.get("text", "")) for p in content if isinstance(p, dict))
    if not isinstance(role, str) or not (isinstance(content, str) or message.get("tool_calls")):
        return ""
    return ROLES.get(role.lower(), role)
