"""Where things are in the repository."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
TEMPLATES = REPOSITORY / "templates"
TESTS = REPOSITORY / "tests"
DRIVERS = TESTS / "support" / "drivers"
# lets torchvision be imported beside a torch for the CPU
TORCHVISION = TESTS / "support" / "torchvision_cpu"
