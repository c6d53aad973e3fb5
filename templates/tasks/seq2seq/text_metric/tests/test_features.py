#: when text_metric=rouge|bleu
from functools import partial

import pytest
from accelerate import Accelerator
from torch.utils.data import DataLoader

import train
from data import Pairs, collate_pairs
from helpers import SETTINGS, build_exact_model
from metrics import compare_texts, summarize_texts
from model import build_tokenizer

#: slot tests
def test_generated_texts_are_compared_as_a_whole(monkeypatch):
    """The metrics don't depend on the batches, and are those of all texts at once."""
    config, accelerator = train.Config(**SETTINGS), Accelerator()
    tokenizer, model = build_tokenizer(config), build_exact_model(config)
    texts = [(f"source {number}", f"a b c d e f {number}") for number in range(9)]
    written = [f"a b {number} c d e f {number % 3}" for number in range(9)]
    whole = compare_texts(written, [target for _, target in texts]).sum(dim=0)
    for size in (2, 9):
        left = iter(written)
        monkeypatch.setattr(
            model, "write", lambda sources, left=left: [next(left) for _ in sources]
        )
        collate = partial(collate_pairs, padding=tokenizer.padding)
        batches = DataLoader(Pairs(texts, tokenizer), size, collate_fn=collate)
        metrics = train.evaluate(accelerator, model, batches, "val")
        for name, value in summarize_texts(whole, 9).items():
            assert metrics[f"val_{name}"] == pytest.approx(value, rel=1e-5) and value > 0
