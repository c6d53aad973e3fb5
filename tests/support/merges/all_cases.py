"""All cases of all topics, by their names."""

from support.merges import code, features, lines, moved, whole_files  # noqa: F401
from support.merges.case import CASES

# what other tools are compared by
TOPICS = (
    "neighbours",
    "indentation",
    "imports",
    "fields",
    "own code",
    "dialect",
    "names",
    "files",
    "text",
    "by hand",
    "goes",
    "several",
)
TYPICAL = [case for case in CASES.values() if case.topic in TOPICS]
