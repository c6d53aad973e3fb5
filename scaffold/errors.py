"""What can go wrong, as messages for users."""

from pathlib import Path


class ScaffoldError(Exception):
    """Invalid input or state: the message says what is wrong, where, and what to do."""


class AnswerError(ScaffoldError):
    """An answer that is not allowed. `key` names the setting."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"{key}: {message}")
        self.key = key
        self.reason = message


class TemplateError(ScaffoldError):
    """An error in a template or manifest: ours, or that of whoever edits the templates."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line
