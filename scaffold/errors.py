"""What can go wrong, as messages for people."""

from pathlib import Path


class ScaffoldError(Exception):
    """Bad input or a state that we refuse: the message says what, where, and what to do."""


class AnswerError(ScaffoldError):
    """An answer that is not allowed. `key` names the setting."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"{key}: {message}")
        self.key = key
        self.reason = message


class TemplateError(ScaffoldError):
    """A fault in a template or manifest: ours, or that of whoever edits the templates."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line
