"""Which templates wrote a project: those of a version differ between commits of a checkout."""

import hashlib
import os
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from scaffold import __version__
from scaffold.answers.manifests import template_root
from scaffold.cache import remember, signature
from scaffold.errors import ScaffoldError

PACKAGE = "torch-scaffold"


@dataclass(frozen=True)
class Origin:
    """The templates of one moment. Either may be unknown: then it is empty."""

    digest: str = ""
    date: str = ""  # of the last commit that changed them, in ISO 8601

    def as_table(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}


def read_origin(table: Mapping[str, object]) -> Origin:
    """The origin in a file that someone else may have written."""
    return Origin(str(table.get("digest", "")), str(table.get("date", "")))


@cache
def find_origin() -> Origin:
    """The templates of this scaffold."""
    root = template_root()
    key = f"digest {__version__} {signature(root)}"
    return Origin(remember(key, lambda: digest_of(root)), _commit_date(root.parent))


def digest_of(root: Path) -> str:
    """What differs if a file of a folder does."""
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(root):  # much faster than Path.rglob
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        digest.update(f"{os.path.relpath(folder, root)}\n".encode())
        for name in sorted(names):
            content = Path(folder, name).read_bytes()
            digest.update(f"{name} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def _commit_date(root: Path) -> str:
    """When the templates of a checkout, or what renders them, were last committed."""
    if not (root / ".git").exists():
        return ""
    # inside of a hook, git's variables name another repository
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    command = ["git", "log", "-1", "--format=%cI", "--", "templates", "scaffold"]
    try:
        found = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip()


def refuse_newer(version: str, origin: Origin) -> None:
    """Raise ScaffoldError if a newer scaffold than this one wrote a project."""
    ours = find_origin()
    if _is_newer(version):
        raise ScaffoldError(
            f"the project was written by scaffold {version}, but this is {__version__}, which "
            f"would remove its new parts. Install a newer one: {_command(version)}"
        )
    is_other = origin.digest and origin.digest != ours.digest
    if is_other and version == __version__ and _is_later(origin.date, ours.date):
        raise ScaffoldError(
            f"the project was written by templates of {origin.date}, but those of this scaffold "
            f"are of {ours.date} and would remove its new parts. Upgrade it: {_command(version)}"
        )


def _is_newer(version: str) -> bool:
    """Whether a later version than this one wrote a project."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(version) > Version(__version__)
    except InvalidVersion:
        return False


def _is_later(one: str, other: str) -> bool:
    try:
        return datetime.fromisoformat(one) > datetime.fromisoformat(other)
    except (ValueError, TypeError):  # unknown, or one without a time zone
        return False


def _command(version: str) -> str:
    """How this scaffold is upgraded."""
    root = template_root().parent
    if (root / ".git").exists():
        return f"`git -C {shlex.quote(str(root))} pull`"
    return f"`pip install --upgrade '{PACKAGE}>={version}'`"
