#: file
"""Write a folder for the Hugging Face Hub: a run, code that predicts with it, and model_card.md.

With --repo, it is uploaded. A folder that exists is uploaded as it is, with your edits.
"""

import json
import shutil
from argparse import ArgumentParser
from dataclasses import fields
from pathlib import Path

from huggingface_hub import EvalResult, HfApi, ModelCard, ModelCardData, get_token
from predict import load
from config import Config

PROJECT = Path(__file__).resolve().parent
DATA = {{ task.subject.rpartition(" on ")[2] | python }}
TASK = {{ task.hub_task | python }}  # one of https://huggingface.co/tasks


def read_run(folder: Path) -> tuple[dict, dict, list[dict]]:
    """The settings, versions and metrics of a run, without paths of this machine."""
    saved, log = json.loads((folder / "config.json").read_text()), folder / "metrics.jsonl"
    settings = {
        name: Path(value).name if Path(str(value)).is_absolute() else value
        for name, value in saved["settings"].items()
        if name not in ("output_dir", "resume")
    }
    texts = log.read_text().splitlines() if log.exists() else []
    lines = [json.loads(text) for text in texts if text.endswith("}")]  # skip a cut-off line
    return settings, saved.get("versions", {}), lines


def write_card(config: Config, model, license: str, **values) -> ModelCard:
    """Fill in model_card.md from the run, with metadata for the Hub at the top."""
    run = config.output_dir
    settings, versions, lines = read_run(run)
    tests = [line for line in lines if any(name.startswith("test_") for name in line)] or [{}]
    metrics = {name: value for name, value in tests[-1].items() if name.startswith("test_")}
    facts = {"Data": DATA, "Hardware": settings.get("hardware", "not recorded")}
    facts["Parameters"] = f"{sum(parameter.numel() for parameter in model.parameters()):,}"
    facts["Versions"] = ", ".join(" ".join(item) for item in versions.items())
    changed = [
        (field.name, str(settings[field.name]).replace("|", r"\|"), field.default)
        for field in fields(Config)
        if field.name in settings and str(settings[field.name]) != str(field.default)
    ]
    scores = {name[len("test_") :]: value for name, value in metrics.items() if value is not None}
    about = (TASK, DATA.replace(" ", "-"), DATA)
    metadata = ModelCardData(
        license=license,
        pipeline_tag=TASK,
        #: region library
        library_name="pytorch",
        #: end library
        tags=["pytorch", "accelerate"],
        #: slot metadata
        metrics=[name for name in scores if name != "loss"],
        model_name={{ project.name | python }},
        eval_results=[EvalResult(*about, *score) for score in scores.items()] or None,
    )
    #: slot values
    values |= {"facts": facts, "changed": changed, "metrics": metrics}
    return ModelCard.from_template(metadata, PROJECT / "model_card.md", **values)


#: slot functions
def write_folder(config: Config, model, folder: Path, license: str, repo: str) -> None:
    """Write the complete folder, or nothing. Of each picture, only the newest version."""
    run, scratch = config.output_dir, folder.with_name(f"{folder.name}.partial")
    pictures = {path.stem.rstrip("0123456789"): path for path in sorted(run.glob("*.png"))}
    copies = {path.name: path for path in pictures.values()}
    record = dict(zip(("settings", "versions"), read_run(run)[:2], strict=True))
    #: region pictures
    shown = list(copies)
    #: end pictures
    card = write_card(config, model, license, repo=repo, pictures=shown)
    texts = [*run.glob("*.json"), *run.glob("metrics.jsonl")]
    copies |= {f"run/{path.name}": path for path in texts}
    ...  #: slot copies
    try:
        shutil.rmtree(scratch, ignore_errors=True)
        for name, path in copies.items():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, scratch / name)
        #: slot copied
        (scratch / "run/config.json").write_text(json.dumps(record, indent=2))
        #: slot drawn
        card.save(scratch / "README.md")
        scratch.rename(folder)
    except OSError as error:
        raise SystemExit(f"Can't write {folder}: {error}") from error


def upload(folder: Path, repo: str) -> None:
    """Upload the folder as it is. A new repository is private."""
    card = folder / "README.md"
    try:
        HfApi().create_repo(repo, private=True, exist_ok=True)
        card.write_text(card.read_text("utf-8").replace("USER/NAME", repo), "utf-8")
        HfApi().upload_folder(repo_id=repo, folder_path=folder, ignore_patterns=["*.pyc"])
    except Exception as error:  # name, login, network or Hub
        reason = " ".join(str(error).split())
        raise SystemExit(f"{folder} could not be uploaded to {repo}: {reason}") from error
    print(f"Uploaded {folder} to {repo}.")


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    parser.add_argument("--output", type=Path, default=Path("shared"), help="the folder to write")
    parser.add_argument("--repo", metavar="USER/NAME", help="repository to upload it to")
    parser.add_argument("--license", default="unknown", help="the Hub's name for it, such as mit")
    arguments = parser.parse_args()
    folder, repo = arguments.output, arguments.repo
    if repo and not get_token():
        raise SystemExit("Log in to the Hugging Face Hub first: hf auth login")
    if not folder.exists():
        config, model = load(arguments.run, "cpu")
        write_folder(config, model, folder, arguments.license, repo or "USER/NAME")
        print(f"Wrote {folder}. Fill in what is marked in {folder / 'README.md'}.")
    elif arguments.run or not repo:
        raise SystemExit(f"{folder} exists: delete it, or choose another --output.")
    if repo:
        upload(folder, repo)


if __name__ == "__main__":
    main()
#: end file

from collections import defaultdict
from math import inf, isclose
from modulefinder import ModuleFinder

from matplotlib.figure import Figure

#: slot copies
#: region share
finder = ModuleFinder([str(PROJECT)])  # of what predict.py imports from this project
finder.run_script(str(PROJECT / "predict.py"))
code = [Path(module.__file__) for module in finder.modules.values() if module.__file__]
copies |= {path.relative_to(PROJECT): path for path in [PROJECT / "pyproject.toml", *code]}
copies["run/model.safetensors"] = run / "model.safetensors"
#: end share

#: slot values with evaluate
report, known = run / "evaluation/test/metrics.json", {}
for name, row in json.loads(report.read_text()).items() if report.exists() else []:
    # only if they belong to these weights
    if "value" in row and isclose(row["value"], metrics.get(name, inf), rel_tol=1e-3):
        known[name] = row
intervals = {name: row for name, row in known.items() if "low" in row}
values["intervals"] = {
    name: f"{row['low']:.5g} to {row['high']:.5g}" for name, row in intervals.items()
}
if not known:
    print(f"The metrics in the card have no intervals: run evaluate.py --run {run} first.")

#: slot functions without learning_curves
def draw_curves(lines: list[dict], path: Path) -> None:
    """A panel for each metric, with a curve for each set."""
    panels = defaultdict(list)
    for name in dict.fromkeys(name for line in lines for name in line if name != "step"):
        part, _, metric = name.partition("_")
        panels[metric if part in ("train", "val", "test") else name].append(name)
    figure = Figure(figsize=(4 * len(panels), 3.5), layout="constrained")
    row = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (panel, names) in zip(row, panels.items(), strict=True):
        for name in names:
            points = [(line["step"], line[name]) for line in lines if name in line]
            axes.plot(*zip(*points, strict=True), marker=".", label=name)
        axes.set(xlabel="step", ylabel=panel)
        axes.legend()
    figure.savefig(path)

#: replace pictures without learning_curves
lines = read_run(run)[2]
shown = [*copies, *(["curves.png"] if lines else [])]

#: slot drawn without learning_curves
if lines:
    draw_curves(lines, scratch / "curves.png")
