import json
from pathlib import Path

import pytest
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader

import train
from data import build_loaders
from helpers import SETTINGS, launch, take
from metrics import count_errors
from model import build_model

#: slot tests
def test_outputs_of_an_epoch_are_complete(tmp_path):
    """Each sample is kept once, on 1 and on 2 processes; each of 2 keeps about half."""
    keep_33(tmp_path)
    launch(keep_33, tmp_path)
    one, *two = (json.loads((tmp_path / name).read_text()) for name in ("0of1", "0of2", "1of2"))
    assert one["kept"] == 33 and sorted(facts["kept"] for facts in two) == [16, 17]
    for facts in two:
        assert facts["errors"] == one["errors"], "gather the shares of all processes"
    assert sum(one["errors"]) == pytest.approx(33 * (1 - one["accuracy"]))


def keep_33(folder: Path) -> None:
    """Evaluate 33 samples in batches of 4, after another evaluation."""
    accelerator = Accelerator()
    set_seed(1)
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = build_loaders(train.Config(**SETTINGS))[1]
    for size in (5, 33):
        subset = take(loader, size)
        batches = accelerator.prepare(DataLoader(subset, 4, collate_fn=loader.collate_fn))
        metrics = train.evaluate(accelerator, model, batches, "val", 0)
    facts = {
        "kept": sum(len(labels) for predictions, labels in train.epoch_outputs.batches),
        "errors": count_errors(*train.epoch_outputs.gather()),
        "accuracy": metrics["val_accuracy"],
    }
    name = f"{accelerator.process_index}of{accelerator.num_processes}"
    (folder / name).write_text(json.dumps(facts))
