"""Trains the smallest model with one contender, as a script of its own: `train_one.py MODULE`."""

import argparse
from importlib import import_module

from cases import MODELS, Case

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", help="such as bare")
    module = import_module(f"contenders.{parser.parse_args().module}")
    case = Case(MODELS[0], "plain")
    module.train(case, case.model.build(), case.dataset())
