import shutil

#: slot functions
def delete(path: Path) -> None:
    """Delete a file, link or checkpoint. It is renamed first, so that a crash leaves no half."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        scratch = path.rename(path.with_suffix(".partial"))
        shutil.rmtree(scratch, ignore_errors=True)
