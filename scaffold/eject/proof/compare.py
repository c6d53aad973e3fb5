"""Run as a program: prints the largest differences of a record and a replay as JSON."""

import json
import sys

import torch


def main(recorded: str, replayed: str) -> None:
    one, two = (torch.load(path, weights_only=False) for path in (recorded, replayed))
    pairs = list(zip(one["losses"], two["losses"], strict=False))
    apart = [abs(a - b) for a, b in pairs]
    weights = {
        name: float((value.double() - two["after"][name].double()).abs().max())
        for name, value in one["after"].items()
        if isinstance(value, torch.Tensor) and value.numel() and name in two["after"]
    }
    moved = [
        float((value.double() - one["before"][name].double()).abs().max())
        for name, value in one["after"].items()
        if isinstance(value, torch.Tensor) and value.numel()
    ]
    found = {
        "updates": one["updates"],
        "batches": [len(one["losses"]), len(two["losses"])],
        "loss": max(apart, default=0.0),
        "first": next((n for n, value in enumerate(apart, start=1) if value > 1e-6), 0),
        "weights": max(weights.values(), default=0.0),
        "weight": max(weights, key=lambda name: weights[name], default=""),
        "moved": max(moved, default=0.0),
        "missing": sorted(set(one["after"]) ^ set(two["after"])),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
