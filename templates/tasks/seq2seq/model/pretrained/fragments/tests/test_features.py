import torch
import train
from data import Pairs, collate_pairs
from metrics import IGNORED
from model import build_tokenizer
from torch import nn
from helpers import SETTINGS, build_exact_model

#: slot tests
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
    [short] = tokenizer.encode("text", ["a"], 2)
    [whole, cut] = tokenizer.encode("text", ["a", "a b c d e f"], len(short))
    assert torch.equal(whole, short) and len(cut) == len(short)
    assert f"1 of 2 texts are cut to {len(short)} tokens" in capsys.readouterr().out
