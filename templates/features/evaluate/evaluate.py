#: file
"""Evaluate the weights of a run: `python evaluate.py --split test`.

The results are also in the folder evaluation/SPLIT of the run.
"""

import argparse
import json
from pathlib import Path

from accelerate import Accelerator
from safetensors import SafetensorError
from torch.utils.data import DataLoader

from data import build_datasets, build_loaders
from predict import load
from config import Config, newest_run
from train import evaluate


SPLITS = ["train", "val", "test"]


def build_loader(config: Config, split: str) -> DataLoader:
    """All samples of a split, in their order."""
    _, val_loader, test_loader = build_loaders(config)
    sets = {"val": val_loader.dataset, "test": test_loader.dataset}
    #: region train_set
    sets["train"] = build_datasets(config)[0]
    #: end train_set
    data = sets[split]
    #: slot samples
    settings = {"collate_fn": val_loader.collate_fn, "num_workers": config.num_workers}
    return DataLoader(data, val_loader.batch_size, **settings)


#: region check_same if same_data is filled
def check_same(name: str, accelerator: Accelerator, run: Path) -> None:
    """Exit if the data say something else of the model than when the run was trained."""
    saved, now = read_settings(run), list_settings(accelerator, load_config(run))
    if name in saved and str(saved[name]) != str(now[name]):
        raise SystemExit(f"{name} was {saved[name]} in {run}, and is {now[name]} in the data now.")


#: end check_same
def open_run(accelerator: Accelerator, run: Path, split: str, weights: Path | None = None):
    """The settings of a run, its model, and the loader of a split, both on this process."""
    #: slot same_data
    config, model = load(run, device="cpu")
    if weights:
        try:
            ...  #: slot load_weights
        except (OSError, RuntimeError, SafetensorError) as error:
            reason = " ".join(str(error).split())
            raise SystemExit(f"--weights {weights} can't be loaded: {reason}") from error
    #: slot model
    model = accelerator.prepare_model(model, evaluation_mode=True)
    return config, model, accelerator.prepare(build_loader(config, split))


#: slot measure
#: slot functions
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, help="folder of the run; default: the newest")
    parser.add_argument("--weights", type=Path, help="other weights, a .safetensors file")
    parser.add_argument("--split", choices=SPLITS, default="test")
    #: region against if measure is filled
    parser.add_argument("--against", type=Path, help="folder of another run, to compare with")
    #: region by
    parser.add_argument("--by", metavar="COLUMN", help="show metrics by a column of samples.csv")
    #: end by
    #: end against
    #: slot arguments
    given = parser.parse_args()
    given.run = given.run or newest_run()
    #: slot run
    accelerator = Accelerator(
        #: slot accelerator
    )
    config, model, loader = open_run(accelerator, given.run, given.split, given.weights)
    metrics = evaluate(accelerator, model, loader, given.split, config.limit_batches)
    #: slot more_metrics
    #: region measured if measure is filled
    columns = measure(accelerator, model, loader, config.limit_batches)
    if given.against:
        other_config, model, loader = open_run(accelerator, given.against, given.split)
        other = measure(accelerator, model, loader, other_config.limit_batches)
        if not is_same_data(columns, other):
            raise SystemExit(f"{given.against} has other samples: choose a run on the same data.")
    #: end measured
    if accelerator.is_main_process:
        folder = config.output_dir / "evaluation" / given.split
        report = {name: {"value": value} for name, value in metrics.items()}
        #: region table if measure is filled
        table = {"index": list(range(len(columns["loss"])))}
        table |= {name: values.tolist() for name, values in columns.items() if values.dim() == 1}
        #: slot files
        #: slot class_names
        #: slot table
        for name, interval in find_intervals(columns, summarize).items():
            report.setdefault(f"{given.split}_{name}", {}).update(interval)
        if given.against:
            report |= compare(columns, other, summarize)
            #: slot compared
        #: slot classes
        #: slot class_scores
        if given.by:
            #: region groups
            report |= measure_groups(columns, table, given.by, summarize)
            #: end groups
        #: end table
        for name, row in report.items():
            print(name, *(f"{key} {value:.6g}" for key, value in row.items()), sep=" | ")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "metrics.json").write_text(json.dumps(report, indent=1))
        #: region tables if measure is filled
        write_samples(folder, table, columns["loss"])
        #: region picture
        draw_losses(folder / "losses.png", columns["loss"])
        #: end picture
        #: slot worst
        #: end tables
        print(f"more results are in {folder}")
    accelerator.end_training()


if __name__ == "__main__":
    main()
#: end file

from itertools import islice

import torch
from safetensors.torch import load_model
from torch import Tensor

from bootstrap import Columns, Metrics, compare, find_intervals, is_same_data, mcnemar
from bootstrap import measure_classes, measure_groups
from config import list_settings, load_config, read_settings
from data import class_names
from errors import count_pairs, draw_losses, draw_predictions, write_classes, write_confusion
from errors import draw_images, write_samples
from lib.scores import label_scores
from train import compute_loss

#: slot load_weights without lora
load_model(model, weights)

#: slot accelerator with cpu
cpu=True,

#: replace by with class_counts
parser.add_argument("--by", metavar="NAME", help="metrics per class, or per value of a column")

#: slot measure with labels
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss, the label and the prediction of each sample."""
    model.eval()
    batches = []
    for {{ task.batch }} in islice(loader, limit or None):
        #: region logits
        logits = model({{ task.batch.split(",")[0] }})
        #: end logits
        values = (compute_loss(logits, labels), labels, logits.argmax(dim=-1))
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    parts = map(torch.cat, zip(*batches, strict=True))
    return dict(zip(("loss", "label", "prediction"), parts, strict=True))


#: region summarize
def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples."""
    right = columns["prediction"] == columns["label"]
    return {"loss": float(columns["loss"].mean()), "accuracy": float(right.double().mean())}


#: end summarize

#: slot class_names with labels
#: region names
classes = 1 + int(max(columns["label"].max(), columns["prediction"].max()))
names = [str(label) for label in range(classes)]
#: end names
for name in ("label", "prediction"):
    table[name] = [names[number] for number in table[name]]

#: replace groups with labels
groups = {"class": table["label"], **table}
report |= measure_groups(columns, groups, given.by, summarize)

#: replace picture with labels
counts = count_pairs(columns["label"], columns["prediction"], len(names))
write_confusion(folder, counts, names)

#: slot compared with labels
right = [one["prediction"] == one["label"] for one in (columns, other)]
report["mcnemar"] = mcnemar(*right)

#: slot measure with many_labels
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The loss of each sample, and its labels and logits, shape (samples, labels)."""
    model.eval()
    batches = []
    for {{ task.batch }} in islice(loader, limit or None):
        #: region logits
        logits = model({{ task.batch.split(",")[0] }})
        #: end logits
        values = (compute_loss(logits, labels), labels, logits)
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    parts = map(torch.cat, zip(*batches, strict=True))
    return dict(zip(("loss", "label", "logit"), parts, strict=True))


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples."""
    scores = label_scores(columns["logit"], columns["label"])
    return {"loss": float(columns["loss"].double().mean()), **scores}


def count_classes(columns: Columns) -> Tensor:
    """How often each label is right, missed and wrong, shape (labels, 3)."""
    occurs, predicted = columns["label"].bool(), columns["logit"] > 0
    parts = (occurs & predicted, occurs & ~predicted, ~occurs & predicted)
    return torch.stack([part.sum(dim=0) for part in parts], dim=1)

#: slot class_names with many_labels
names = class_names(config)
for key, chosen in ("labels", columns["label"] > 0), ("predictions", columns["logit"] > 0):
    rows = chosen.tolist()
    table[key] = [",".join(name for name, one in zip(names, row, strict=True) if one) for row in rows]
probs = columns["logit"].sigmoid().T.tolist()
table |= {f"p_{name}": column for name, column in zip(names, probs, strict=True)}

#: slot class_scores with many_labels
for label, row in enumerate(found.values()):
    row |= label_scores(columns["logit"][:, [label]], columns["label"][:, [label]])

#: slot classes with class_counts without labels
counts = count_classes(columns)
found = measure_classes(counts, names)

#: replace groups with class_counts without labels
report |= (
    found
    if given.by == "class"
    else measure_groups(columns, table, given.by, summarize)
)

#: replace picture with class_counts without labels
write_classes(folder, counts, found)

#: slot measure with numbers
@torch.no_grad()
def measure(accelerator, model, loader, limit: int) -> Columns:
    """The target, the prediction, the error and the loss of each {{ task.sample }}."""
    model.eval()
    #: region scale
    scale = accelerator.unwrap_model(model).scale
    #: end scale
    batches = []
    for {{ task.batch }} in islice(loader, limit or None):
        #: region predictions
        predictions = model({{ task.batch.split(",")[0] }})
        #: end predictions
        values = (targets, predictions, scale(targets), compute_loss(predictions, targets, scale))
        batches.append([part.cpu() for part in accelerator.gather_for_metrics(values)])
    targets, predictions, scaled, losses = map(torch.cat, zip(*batches, strict=True))
    columns = {"target": targets, "prediction": predictions, "error": predictions - targets}
    return {**columns, "scaled": scaled, "loss": losses}


def summarize(columns: Columns) -> Metrics:
    """The metrics of these samples, in the unit of the targets."""
    errors, loss, scaled = columns["error"], float(columns["loss"].mean()), columns["scaled"]
    variance = float(scaled.var(correction=0))
    equal = variance <= 1e-6 * float(scaled.square().mean())
    return {
        "loss": loss,
        "rmse": float(errors.double().square().mean().sqrt()),
        "mae": float(errors.abs().mean()),
        "r2": 0.0 if equal else 1 - loss / variance,
    }

#: replace picture with numbers
draw_predictions(folder / "errors.png", columns["target"], columns["prediction"])

#: slot worst when project.task=image_classification without stream
worst = columns["loss"].argsort(descending=True, stable=True)[:25].tolist()
images = [loader.dataset[row][0] for row in worst]
captions = [
    ...  #: slot caption
    for row in worst
]
draw_images(folder / "worst.png", images, captions)

#: slot caption when project.task=image_classification without stream with labels
f"{table['label'][row]} | {table['prediction'][row]}"

#: slot caption when project.task=image_classification without stream with many_labels
f"{table['labels'][row]} | {table['predictions'][row]}"

#: slot caption when project.task=image_classification without stream with numbers
f"{table['target'][row]:.4g} | {table['prediction'][row]:.4g}"

#: slot same_data with saved_classes with checkpoints
check_same("classes", accelerator, run)
