import json
from pathlib import Path

from accelerate import PartialState
from files import writing

#: slot classes
class MetricsFile:
    """Writes a line of JSON for each log line and each evaluation."""

    def __init__(self, path: Path) -> None:
        self.path, self.mode = path, "w"  # the first line replaces the file of an earlier run

    def append(self, step: int, metrics: dict[str, float]) -> None:
        if PartialState().is_main_process:
            with writing(self.path), self.path.open(self.mode) as file:
                file.write(json.dumps({"step": step, **metrics}) + "\n")
            self.mode = "a"

    #: slot metrics_file_state
