from functools import partial

import pytest
import torch
from accelerate import Accelerator
from sacrebleu import BLEU
from torch import nn
from torch.utils.data import DataLoader

import train
from data import Pairs, collate, collate_pairs, encode
from helpers import SETTINGS, build_exact_model
from metrics import IGNORED, compare_texts, summarize_texts
from model import END, PADDING, START, build_tokenizer

#: into tests/test_features.py
#: slot tests when model=transformer
# of different lengths, all distinct
PAIRS = Pairs([(f"source {number}", "target " * number) for number in range(1, 9)])


def test_targets_are_the_inputs_shifted_by_one():
    pairs = [(torch.tensor([1, 2, END]), torch.tensor([3, END]))]
    pairs += [(torch.tensor([4, END]), torch.tensor([5, 6, 7, END]))]
    sources, inputs, targets = collate(pairs)
    #: slot lengths
    assert sources.tolist() == [[1, 2, END], [4, END, PADDING]]
    assert inputs.tolist() == [[START, 3, PADDING, PADDING], [START, 5, 6, 7]]
    assert targets.tolist() == [[3, END, IGNORED, IGNORED], [5, 6, 7, END]]


def test_no_token_sees_a_later_one_or_padding():
    model = build_exact_model(train.Config(**SETTINGS))
    sources, inputs, _ = collate(list(PAIRS))
    changed = inputs.clone()
    changed[:, 5] += 1
    logits, others = model(sources, inputs), model(sources, changed)
    torch.testing.assert_close(others[:, :5], logits[:, :5], rtol=0, atol=1e-5)
    assert not torch.allclose(others[:, 5:], logits[:, 5:], rtol=0, atol=1e-5)
    padded = nn.functional.pad(sources, (0, 3), value=PADDING)
    torch.testing.assert_close(model(padded, inputs), logits, rtol=0, atol=1e-5)


def test_exact_match_counts_the_targets_that_are_generated_without_a_mistake():
    """With a model that has memorized five of eight pairs."""
    model, accelerator = build_exact_model(train.Config(**SETTINGS)), Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), 0.003)
    sources, inputs, targets = collate([PAIRS[number] for number in range(5)])
    for _ in range(100):
        train.compute_loss(model(sources, inputs), targets).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    sources, inputs, targets = collate(list(PAIRS))
    generated = model.eval().generate(sources, targets.shape[1])
    right = ((generated == targets) | (targets == IGNORED)).all(dim=1).sum()
    metrics = train.evaluate(accelerator, model, DataLoader(PAIRS, 3, collate_fn=collate), "val")
    assert 1 <= right < 8 and metrics["val_exact_match"] == right / 8


def test_generates_the_most_likely_token_each_time():
    model = build_exact_model(train.Config(**SETTINGS)).eval()
    sources, _, _ = collate(list(PAIRS))
    tokens = model.generate(sources, 6)
    inputs = torch.cat([torch.full((8, 1), START), tokens[:, :-1]], dim=1)
    assert torch.equal(model(sources, inputs).argmax(dim=-1), tokens)

#: slot tests when model=pretrained
CONFIG = train.Config(**SETTINGS)
# of different lengths, all distinct
TEXTS = [(f"source {number}", "target " * number) for number in range(1, 9)]


def pairs():
    """TEXTS as the model sees them: sources, inputs and targets."""
    tokenizer = build_tokenizer(CONFIG)
    return collate_pairs(list(Pairs(TEXTS, tokenizer)), tokenizer.padding)


def test_inputs_are_the_targets_shifted_by_one():
    tokenizer = build_tokenizer(CONFIG)
    sources, inputs, targets = pairs()
    assert sources.shape[0] == 8 and inputs.shape == targets.shape
    assert (inputs[:, 0] == tokenizer.start).all()
    later = targets[:, 1:] != IGNORED
    assert later.any() and torch.equal(inputs[:, 1:][later], targets[:, :-1][later])
    assert tokenizer.decode(targets)[0].strip() == "target"


def test_no_token_sees_a_later_one_or_padding():
    model, tokenizer = build_exact_model(CONFIG).eval(), build_tokenizer(CONFIG)
    sources, inputs, _ = pairs()
    changed = inputs.clone()
    changed[:, 3] = tokenizer.tokenizer.eos_token_id
    logits, others = model(sources, inputs), model(sources, changed)
    torch.testing.assert_close(others[:, :3], logits[:, :3], rtol=0, atol=1e-4)
    assert not torch.allclose(others[:, 3:], logits[:, 3:], rtol=0, atol=1e-4)
    padded = nn.functional.pad(sources, (0, 3), value=tokenizer.padding)
    torch.testing.assert_close(model(padded, inputs), logits, rtol=0, atol=1e-4)


def test_long_texts_are_cut_and_counted(capsys):
    tokenizer = build_tokenizer(CONFIG)
    [short] = tokenizer.encode("text", ["a"], 8)
    [whole, cut] = tokenizer.encode("text", ["a", "a b c d e f"], len(short))
    assert torch.equal(whole, short) and len(cut) == len(short)
    assert f"1 of 2 texts are cut to {len(short)} tokens" in capsys.readouterr().err

#: slot tests when text_metric=bleu
def test_bleu_is_that_of_sacrebleu():
    written = ["the cat sat on the mat", "it is", "a red house and a dog"]
    targets = ["the cat is on the mat", "it was here", "a red house and a cat"]
    found = summarize_texts(compare_texts(written, targets).sum(dim=0), 3)
    assert found["bleu"] == pytest.approx(BLEU().corpus_score(written, [targets]).score)

#: slot lengths when model=transformer with tpu
assert sources.shape == inputs.shape == targets.shape == (2, 32)
sources, inputs, targets = sources[:, :3], inputs[:, :4], targets[:, :4]

#: slot tests when text_metric=rouge|bleu
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
        collate_fn = partial(collate_pairs, padding=tokenizer.padding)
        batches = DataLoader(Pairs(texts, tokenizer), size, collate_fn=collate_fn)
        metrics = train.evaluate(accelerator, model, batches, "val")
        for name, value in summarize_texts(whole, 9).items():
            assert metrics[f"val_{name}"] == pytest.approx(value, rel=1e-5) and value > 0

#: into tests/test_predict.py
#: slot five
rows = predict.predict(config, model, ["3/14/1998", "4 May 1980", "", "x", "14.3.1998"], length=8)

#: slot functions when model=transformer
def test_targets_end_where_the_model_ends_them(trained, monkeypatch):
    config, model = predict.load(trained[0])
    written = torch.stack([encode("1998"), encode("20é")])
    later = torch.full((2, 3), ord("x"))
    monkeypatch.setattr(model, "generate", lambda *_: torch.cat([written, later], dim=1))
    rows = predict.predict(config, model, ["a", "b"], length=8)
    assert [row["text"] for row in rows] == ["1998", "20é"]
