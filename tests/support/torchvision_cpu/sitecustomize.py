"""On PYTHONPATH, lets torchvision's wheel for GPUs be imported beside a torch for the CPU.

That wheel, the only one in the Python Package Index, can't load its compiled operators without the
CUDA libraries, and its import then stops at two operators that it describes. Declaring them is
enough for its data sets, transforms and models, which use neither.
"""

import sys
from importlib.machinery import PathFinder
from pathlib import Path


class DeclareOperators:
    """Declares the operators when torchvision is about to be imported; finds no module itself."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name != "torchvision":
            return
        sys.meta_path.remove(DeclareOperators)
        spec = PathFinder.find_spec(name)
        if spec is None or spec.origin is None:
            return
        import torch

        try:
            torch.ops.load_library(Path(spec.origin).with_name("_C.so"))
        except OSError:
            for operator in ("nms", "qnms"):
                schema = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
                torch.library.define(f"torchvision::{operator}", schema)


sys.meta_path.insert(0, DeclareOperators)
