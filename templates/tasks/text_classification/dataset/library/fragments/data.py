import sysconfig
from functools import cache
from pathlib import Path

#: slot texts
PACKAGES = ["asyncio", "email", "http", "importlib", "logging", "multiprocessing", "unittest", "xml"]


@cache
def load_texts(config) -> list[list[Row]]:
    """Paragraphs of Python's own library, each with its package, in three parts."""
    library = Path(sysconfig.get_path("stdlib"))
    found = {}  # a dictionary drops duplicates
    for package in PACKAGES:
        for path in sorted((library / package).rglob("*.py")):
            if "test" not in path.parts:  # some systems don't install the tests
                for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
                    if len(paragraph.split()) >= 8:
                        found[(paragraph,)] = package
    return split_rows(list(found.items()), [0.8, 0.1, 0.1])
