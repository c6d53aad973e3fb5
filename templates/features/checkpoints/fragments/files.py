import shutil
import zlib

#: slot functions
def checksum(path: Path) -> str:
    """The CRC-32 of a file: it detects corruption, not tampering."""
    value = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value = zlib.crc32(block, value)
    return f"{value:08x}"


def delete(path: Path) -> None:
    """Delete a file, a link or a checkpoint. A crash never leaves half a checkpoint."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        scratch = path.rename(path.with_name("checkpoint.partial"))
        shutil.rmtree(scratch, ignore_errors=True)
