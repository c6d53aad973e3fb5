"""As much of hydra as edits of the corpus call: settings from a YAML file."""

import functools
from pathlib import Path

import yaml
from omegaconf import DictConfig


def main(version_base=None, config_path="conf", config_name="config"):
    def decorate(function):
        @functools.wraps(function)
        def run():
            text = (Path(config_path) / f"{config_name}.yaml").read_text()
            return function(DictConfig(yaml.safe_load(text)))

        return run

    return decorate
