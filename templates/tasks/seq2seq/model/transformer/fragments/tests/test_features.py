import torch
import train
from data import Pairs, collate
from metrics import IGNORED
from model import END, PADDING, START
from torch import nn
from helpers import SETTINGS, build_exact_model
from accelerate import Accelerator
from torch.utils.data import DataLoader

#: slot tests
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
