"""Commands timed in turns."""

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

Command = tuple[list[str], Path]


def time_in_turns(
    commands: Mapping[str, Callable[[], Command]], first: str, rounds: int
) -> dict[str, dict[str, float]]:
    """Median seconds of each command, and the median of its ratios to the first one.

    In each round each command runs once, after one of the first. What makes a command runs before
    the clock does: it may prepare a folder. Raises CalledProcessError if one fails.
    """
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    ratios: dict[str, list[float]] = {name: [] for name in commands}
    for name in commands:
        run(commands[name]())  # what it reads is in memory from here on
    for _ in range(rounds):
        for name in commands:
            base = run(commands[first]())
            own = run(commands[name]())
            seconds[name].append(own)
            ratios[name].append(own / base)
    return {
        name: {
            "seconds": round(statistics.median(seconds[name]), 3),
            "ratio": round(statistics.median(ratios[name]), 3),
        }
        for name in commands
    }


def run(command: Command) -> float:
    """Seconds that a command takes in a folder."""
    began = time.perf_counter()
    subprocess.run(command[0], cwd=command[1], check=True, capture_output=True)
    return time.perf_counter() - began
