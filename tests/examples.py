"""The projects in generated_examples/. `python tests/examples.py` writes them anew."""

import shutil
from pathlib import Path

from scaffold.answers import parse_setting, resolve
from scaffold.catalog import Catalog, load_catalog
from scaffold.project import build_project

FOLDER = Path(__file__).parent.parent / "generated_examples"
COMMAND = "python tests/examples.py"


def all_features(catalog: Catalog) -> list[str]:
    """Settings that turn on every feature, with the processes of two CPUs."""
    settings = [
        f"features.{feature.name}=true"
        for feature in catalog.features.values()
        if not feature.switch
    ]
    hardware = ["distributed_type=MULTI_CPU", "num_processes=2", "mixed_precision=bf16"]
    settings += [f"hardware.{row}" for row in hardware]
    return [*settings, "training.gradient_accumulation_steps=4"]


def examples() -> dict[str, list[str]]:
    """Settings of each example, by its name."""
    return {
        "default": [],
        "everything": all_features(load_catalog()),
        "two_processes_bf16": ["hardware.num_processes=2", "hardware.mixed_precision=bf16"],
    }


def render_example(name: str) -> dict[str, str]:
    """The files of an example."""
    catalog = load_catalog()
    given = dict(parse_setting(catalog, setting) for setting in examples()[name])
    return build_project(catalog, resolve(catalog, {"project.name": name, **given}))


def render_examples(target: Path) -> None:
    """Write all examples to a folder, in place of what was there."""
    for path in target.iterdir() if target.is_dir() else ():
        shutil.rmtree(path)
    for name in examples():
        for file, text in render_example(name).items():
            path = target / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    render_examples(FOLDER)
    print(f"wrote {', '.join(examples())} to {FOLDER}")
