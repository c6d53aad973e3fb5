import os
import shutil

#: slot functions
def link(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it where the disk has no hard links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)
