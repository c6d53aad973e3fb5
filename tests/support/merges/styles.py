"""Code that is written otherwise throughout train.py, and updates that it meets."""

import re

from corpus.edit import TRAIN, Files
from support.merges.case import Given
from support.merges.words import (
    BF16,
    EMA,
    LINEAR,
    LION,
    NO_BEST,
    NO_CLIP,
    STOP,
    TENSORBOARD,
    WINDOW,
)


def without_comments(files: Files) -> None:
    rows = [row for row in files[TRAIN].splitlines() if not row.strip().startswith("#")]
    files[TRAIN] = "".join(f"{row.partition('  # ')[0]}\n" for row in rows)


def other_comments(files: Files) -> None:
    files[TRAIN] = re.sub(r"(?m)(^ *|  )# .*$", r"\1# auf Deutsch", files[TRAIN])


FROM = re.compile(r"(?m)^from (\S+) import (\([^)]*\)|.+)$")


def star_imports(files: Files) -> None:
    def shorten(found: re.Match[str]) -> str:
        return f"from {found[1]} import *" if f"{found[1]}.py" in files else found[0]

    files[TRAIN] = FROM.sub(shorten, files[TRAIN])


def main_in_a_class(files: Files) -> None:
    head, rest = files[TRAIN].split("def main(config: Config) -> dict[str, float]:")
    body, foot = rest.split("\n\n\nif __name__")
    lines = [f"    {row}" if row else row for row in body.splitlines()]
    files[TRAIN] = "".join(
        (
            f"{head}class Trainer:\n    def run(self, config: Config) -> dict[str, float]:",
            "\n".join(lines),
            "\n\n\nif __name__",
            foot.replace("main(config)", "Trainer().run(config)"),
        )
    )


STYLES = (without_comments, other_comments, star_imports, main_in_a_class)
UPDATES: dict[str, Given] = {
    "average": EMA,
    "bf16": BF16,
    "window": WINDOW,
    "early stopping": STOP,
    "tracker": TENSORBOARD,
    "no clipping": NO_CLIP,
    "no best model": NO_BEST,
    "linear schedule": LINEAR,
    "Lion": LION,
}
