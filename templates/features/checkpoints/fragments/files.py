import shutil

#: slot functions
def delete(path: Path) -> None:
    """Delete a file, a link or a checkpoint. A crash never leaves half of a checkpoint."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        scratch = path.rename(path.with_suffix(".partial"))
        shutil.rmtree(scratch, ignore_errors=True)
