import shutil
from contextlib import suppress

#: slot functions
def delete(folder: Path) -> None:
    """Delete a checkpoint, or only the link to one. A crash leaves no half of a checkpoint."""
    scratch = folder.with_name("checkpoint.partial")
    with suppress(OSError):
        if folder.is_symlink():
            folder.unlink()
        else:
            folder.rename(scratch)
            shutil.rmtree(scratch)
