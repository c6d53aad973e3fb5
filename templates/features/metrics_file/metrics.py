import json
from math import isfinite
from pathlib import Path

from accelerate import PartialState

#: slot classes
class MetricsFile:
    """Writes a line of JSON for each logged step and each evaluation. NaN and infinity are null."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, 0  # the first line replaces the file of an earlier run

    def append(self, step: int, metrics: dict[str, float]) -> None:
        if PartialState().is_main_process:
            with self.path.open("a" if self.size else "w") as file:
                values = {name: v if isfinite(v) else None for name, v in metrics.items()}
                file.write(json.dumps({"step": step, **values}) + "\n")
                self.size = file.tell()

    #: slot metrics_file_state

#: slot metrics_file_state with checkpoints
def state_dict(self) -> dict:
    return {"text": self.path.read_text()[: self.size] if self.size else ""}

def load_state_dict(self, state: dict) -> None:
    if PartialState().is_main_process:
        self.size = self.path.write_text(state["text"])
