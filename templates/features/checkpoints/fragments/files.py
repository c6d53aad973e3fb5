import shutil

#: slot functions
def delete(path: Path) -> None:
    """Delete a file, a link or a checkpoint, which is renamed first in case of a crash."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        scratch = path.rename(path.with_suffix(".partial"))
        shutil.rmtree(scratch, ignore_errors=True)
