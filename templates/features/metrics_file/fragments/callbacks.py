import json
from pathlib import Path

from accelerate import PartialState
from files import writing

#: slot classes
class MetricsFile:
    """Appends lines of JSON. A resumed run overwrites the lines after its checkpoint."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, 0

    def append(self, step: int, metrics: dict[str, float]) -> None:
        if not PartialState().is_main_process:
            return
        line = json.dumps({"step": step, **metrics}) + "\n"
        with writing(self.path), self.path.open("ab") as file:
            size = min(self.size, file.tell())  # 0 if it is resumed in a new folder
            file.truncate(size)
            file.write(line.encode())
        self.size = size + len(line)

    def state_dict(self) -> dict:
        return {"size": self.size}

    def load_state_dict(self, state: dict) -> None:
        self.size = state["size"]
