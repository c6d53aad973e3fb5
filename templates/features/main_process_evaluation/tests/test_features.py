import json
from pathlib import Path

import pytest
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader

import train
from data import build_loaders
from helpers import SETTINGS, launch, take
from model import build_model

#: slot tests
def test_the_main_process_evaluates_alone(tmp_path):
    """It returns what all processes return together, and every process gets the result."""
    evaluate_alone(tmp_path)
    launch(evaluate_alone, tmp_path)
    one, *two = (json.loads((tmp_path / name).read_text()) for name in ("0of1", "0of2", "1of2"))
    assert two[0]["alone"] == two[1]["alone"], "all processes must decide from the same values"
    assert [facts["samples"] for facts in two] == [33, 0]
    for facts in two:
        for values in (facts["alone"], facts["together"]):
            assert values == pytest.approx(one["alone"], rel=1e-5, abs=1e-5)


def evaluate_alone(folder: Path) -> None:
    """Evaluate 33 samples in batches of 4, in both ways."""
    accelerator = Accelerator()
    set_seed(1)
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = build_loaders(train.Config(**SETTINGS))[1]
    seen = []

    def collate(samples):
        seen.extend(samples)
        return loader.collate_fn(samples)

    subset = take(loader, 33)
    batches = accelerator.prepare(DataLoader(subset, 4, collate_fn=collate))
    facts = {"alone": train.evaluate(accelerator, model, batches, "val", 0), "samples": len(seen)}
    facts["together"] = train.evaluate.__wrapped__(accelerator, model, batches, "val", 0)
    name = f"{accelerator.process_index}of{accelerator.num_processes}"
    (folder / name).write_text(json.dumps(facts))
    model = accelerator.free_memory(model)
