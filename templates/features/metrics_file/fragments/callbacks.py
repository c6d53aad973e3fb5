import json
from pathlib import Path

from checkpoint import Progress, writing

#: slot classes
class MetricsFile:
    """Adds a line of JSON for each epoch, and one for the test.

    A checkpoint knows how long the file was: a resumed run writes later lines anew. In another
    folder it begins a file of its own.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, 0

    def __call__(self, progress: Progress, metrics: dict[str, float]) -> None:
        line = json.dumps({"update": progress.update, **metrics}) + "\n"
        with writing(self.path), self.path.open("ab") as file:
            kept = min(self.size, file.tell())
            file.truncate(kept)
            file.write(line.encode())
        self.size = kept + len(line)  # all of it is ASCII

    def state_dict(self) -> dict:
        return {"size": self.size}

    def load_state_dict(self, state: dict) -> None:
        self.size = state["size"]
