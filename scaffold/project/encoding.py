"""Python files in another encoding than UTF-8, which a comment in their first lines names.

Everywhere else, texts are UTF-8 with `surrogateescape`, so that any bytes survive unchanged.
"""

import io
import tokenize

from scaffold.errors import ScaffoldError

UTF_8 = "utf-8"


def encoding_of(path: str, stored: str) -> str:
    """The encoding that Python reads a file with. UTF-8 if it names none that fits its bytes."""
    if not path.endswith(".py") or "coding" not in stored[:500]:
        return UTF_8
    content = _bytes(stored)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        content.decode(encoding)
    except (SyntaxError, ValueError, LookupError):
        return UTF_8
    return UTF_8 if encoding.startswith(UTF_8) else encoding


def decode(stored: str, encoding: str) -> str:
    """The characters of a file."""
    return stored if encoding == UTF_8 else _bytes(stored).decode(encoding)


def encode(path: str, text: str, encoding: str) -> str:
    """The text as it is stored. Raises ScaffoldError for a character that has no bytes there."""
    if encoding == UTF_8:
        return text
    try:
        return text.encode(encoding).decode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        raise ScaffoldError(
            f"{path}: its encoding {encoding} has no {text[error.start]!r}, which is in the new "
            "text. Save the file as UTF-8, without the comment that names an encoding."
        ) from None


def _bytes(stored: str) -> bytes:
    return stored.encode(errors="surrogateescape")
