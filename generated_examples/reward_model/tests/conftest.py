"""All tests run on the CPU, where two runs can be compared bit by bit."""

import os
import sys
from pathlib import Path

os.environ["ACCELERATE_USE_CPU"] = "true"
sys.path.insert(0, str(Path(__file__).parent.parent))
