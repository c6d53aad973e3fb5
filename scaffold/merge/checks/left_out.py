"""What an update says in a document, beside lines that its owner changed, deleted or moved.

`normalize/documents.py` leaves it out: here, it is told. So is what goes of the owner's lines.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from scaffold.merge.source.statement import DOCUMENTS
from scaffold.merge.source.versions import Versions


def tell_left_out(project: Versions, merged: Mapping[str, str | None]) -> Iterator[str]:
    """Notes with the new lines that no document has, the owner's lines that go, and the old ones
    that a page of his still has.

    `merged` are the files after the update that it concerns.
    """
    pages = [path for path in project.ours if path.endswith(DOCUMENTS)]
    for name in sorted(project.base.keys() & project.theirs.keys()):
        path = project.place(name)
        if path not in pages or not (text := merged.get(path)):
            continue
        base, ours, theirs, now = (
            _lines(side)
            for side in (project.base[name], project.ours[path], project.theirs[name], text)
        )
        written = [line for line in now if line not in ours]
        left_out = [
            line
            for line in theirs
            if line not in base and line not in now and not get_close_matches(line, written, 1)
        ]
        if left_out:
            what = "left out, because you changed or deleted the lines around it"
            yield f"{path}: {what}:\n{_shown(left_out)}"
        lost = [line for line in ours if line not in base and line not in now]
        if lost and set(written) <= set(theirs):  # his words are in no other line
            yield f"{path}: your lines go with what the update removes there:\n{_shown(lost)}"
        gone = [line for line in base if line not in theirs and line not in ours]
        for page in pages:
            kept = [line for line in gone if line in _lines(project.ours[page])]
            if page not in project.names and kept:
                what = f"this was in {path}, where the update changes or removes it"
                yield f"{page}: {what}:\n{_shown(kept)}"


def _shown(lines: list[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]
