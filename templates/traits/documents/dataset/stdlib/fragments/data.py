import random
import sysconfig
from pathlib import Path

#: slot read_documents
PACKAGES = [".", "asyncio", "concurrent/futures", "ctypes", "email", "http", "importlib"]
PACKAGES += ["json", "logging", "multiprocessing", "sqlite3", "unittest", "urllib", "wsgiref"]


def read_documents(config) -> list[list[str]]:
    """The smaller modules of Python's standard library, for training, validation and test.

    They differ slightly between Python versions.
    """
    library = Path(sysconfig.get_paths()["stdlib"])
    paths = sorted(path for package in PACKAGES for path in (library / package).glob("[a-z]*.py"))
    # a fixed seed: another --seed must not move test documents into the training data
    random.Random(0).shuffle(paths)
    documents = [path.read_text(encoding="utf-8") for path in paths if path.stat().st_size < 9000]
    tenth = len(documents) // 10
    return [documents[2 * tenth :], documents[:tenth], documents[tenth : 2 * tenth]]
