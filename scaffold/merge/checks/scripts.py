"""Own scripts: the flags of the training script that they give."""

import re
from collections.abc import Iterator

from scaffold.merge.checks.update import Update
from scaffold.merge.semantics.infer import Project
from scaffold.merge.semantics.types import Class
from scaffold.merge.source.training import CONFIG

SCRIPTS = (".sbatch", ".sh")


def gone_flags(update: Update) -> Iterator[tuple[str, str, int]]:
    """Flags of the training script that own scripts give it, and that are gone."""
    old, new = _settings(update.before), _settings(update.after)
    gone = {name.replace("_", "-"): name for name in old - new} if new else {}
    if not gone:
        return
    pattern = re.compile(rf"(?<![\w-])--(?:no-)?({'|'.join(map(re.escape, gone))})(?![\w-])")
    for path, text in update.scripts.items():
        for number, line in enumerate(text.split("\n"), start=1):
            for found in pattern.finditer(line.partition(" #")[0]):
                yield path, f"{found[0]}: Config has no {gone[found[1]]}", number


def _settings(project: Project) -> set[str]:
    return {
        field
        for path, name in project.definitions
        if name == CONFIG
        for field in project.members(Class(path, name)).fields
    }
