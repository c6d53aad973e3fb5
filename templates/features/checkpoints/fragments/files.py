import shutil
from contextlib import suppress

#: slot functions
def delete(path: Path) -> None:
    """Delete a file, a link or a checkpoint. A crash never leaves half a checkpoint."""
    scratch = path.with_name("checkpoint.partial")
    with suppress(OSError):
        if path.is_symlink() or path.is_file():
            path.unlink()
        else:
            path.rename(scratch)
            shutil.rmtree(scratch)
