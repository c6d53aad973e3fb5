import math
from dataclasses import replace

import gradio as gr
import pytest
import torch
from torch import nn

import train
from data import (
    MASK,
    Block,
    Blocks,
    NewMasks,
    build_datasets,
    build_tokenizer,
    mask_and_pad,
    mask_tokens,
)
from helpers import SETTINGS, build_exact_model
from metrics import IGNORED

#: into tests/test_app.py
#: slot values
with pytest.raises(gr.Error, match="there is none in 'no mask'"):
    page.fn("no mask", 2)
values = ["import [MASK]s", 2]

#: slot expected
rows = app.predict(config, model, values[:1], 2)
assert shown == [[r["mask"], r["token"], r["probability"], r["filled"]] for r in rows]
assert len(shown) == 2

#: into tests/test_features.py
#: slot tests
def test_a_share_of_the_tokens_has_a_target():
    """80 % of them are masked, 10 % are random, and 10 % stay. Other tokens have no target."""
    config = train.Config(**SETTINGS)
    tokenizer, kinds, known = build_tokenizer(config), torch.zeros(3), torch.zeros(2)
    for block in build_datasets(config)[0]:
        inputs, targets = mask_tokens(block, config)
        chosen, free = targets != IGNORED, int((block.words >= 0).sum())
        assert int(chosen.sum()) == max(1, round(config.mask_rate * free)) or config.whole_words
        assert torch.equal(targets[chosen], block.tokens[chosen])
        assert torch.equal(inputs[~chosen], block.tokens[~chosen])
        assert not chosen[block.words < 0].any(), "a special token has a target"
        masked, same = inputs[chosen] == tokenizer.mask, inputs[chosen] == targets[chosen]
        kinds += torch.tensor([masked.sum(), (~masked & ~same).sum(), (~masked & same).sum()])
        known += torch.tensor([int(chosen.sum()), free])
        if kinds.sum() > 20_000:
            break
    assert kinds / kinds.sum() == pytest.approx(torch.tensor([0.8, 0.1, 0.1]), abs=0.04)
    assert float(known[0] / known[1]) == pytest.approx(config.mask_rate, abs=0.05)


def test_whole_words_are_masked_together():
    config = replace(train.Config(**SETTINGS), whole_words=True, mask_rate=0.5)
    tokens, words = torch.arange(5, 17), torch.tensor([-1, 0, 0, 0, 1, 2, 2, 3, 3, 3, 3, -1])
    seen = set()
    for seed in range(50):
        chosen = mask_tokens(Block(tokens, words, seed), config)[1] != IGNORED
        found = {int(word) for word in words[chosen]}
        assert -1 not in found and int(chosen.sum()) >= 5
        assert all(bool(chosen[words == word].all()) for word in found)
        seen |= found
    assert seen == {0, 1, 2, 3}


def test_masks_are_fixed_in_evaluation_and_new_in_each_epoch_of_training():
    config = train.Config(**SETTINGS)
    _, val_loader, _ = train.build_loaders(config)
    first, again = ([part for batch in val_loader for part in batch] for _ in range(2))
    assert all(map(torch.equal, first, again))
    data = NewMasks(build_datasets(config)[0], config)

    def draw(epoch: int, indices) -> list[list[int]]:
        data.set_epoch(epoch)
        return [mask_tokens(data[index], config)[1].tolist() for index in indices]

    one = draw(0, range(8))
    assert draw(1, range(8)) != one, "an epoch has the masks of another one"
    assert draw(0, reversed(range(8)))[::-1] == one, "masks depend on the order of the blocks"
    other = NewMasks(build_datasets(config)[0], replace(config, seed=config.seed + 1))
    assert [mask_tokens(other[index], config)[1].tolist() for index in range(8)] != one


def test_every_token_of_a_document_is_in_one_block():
    config = replace(train.Config(**SETTINGS), max_length=16)
    text = "for line in file:\n    print(line)\n"
    blocks = Blocks([text, "", "pass"], "training", config)
    parts = [build_tokenizer(config).decode(block.tokens.tolist()) for block in blocks]
    assert "".join("".join(parts).split()).lower() == "".join(f"{text}pass".split())
    assert max(len(block.tokens) for block in blocks) == 16
    with pytest.raises(SystemExit, match="The test data has no text"):
        Blocks([""], "test", config)


def test_padding_does_not_change_a_block():
    config = train.Config(**SETTINGS)
    model = build_exact_model(config).eval()
    short, long = Blocks(["a", "a longer document"], "training", config)
    with torch.no_grad():
        parts = (mask_and_pad(part, config)[:2] for part in ([short], [short, long]))
        alone, together = (model(*part) for part in parts)
    size = len(short.tokens)
    torch.testing.assert_close(together[0, :size], alone[0, :size], rtol=0, atol=1e-5)

#: into tests/test_predict.py
#: slot metric
seen = {"loss": 0.0, "tokens": 0, "right": 0}
for inputs, mask, targets in read_batches(config):
    with torch.no_grad():
        logits = model(inputs, mask).double()
    for row, place in (targets >= 0).nonzero().tolist():
        scores, target = logits[row, place].log_softmax(dim=-1), int(targets[row, place])
        seen["loss"] -= float(scores[target])
        seen["right"] += int(scores.argmax()) == target
        seen["tokens"] += 1
assert reported["test_perplexity"] == pytest.approx(math.exp(seen["loss"] / seen["tokens"]), 1e-5)
assert reported["test_accuracy"] == pytest.approx(seen["right"] / seen["tokens"], rel=1e-6)

#: slot functions
def test_masks_are_filled_with_the_most_likely_tokens(trained):
    """One mask at a time, with the best tokens for the others, independently of other texts."""
    config, model = predict.load(trained[0])
    tokenizer = build_tokenizer(config)
    letters = [tokenizer.encode_masked(letter + MASK) for letter in "xyz"]
    [place] = [n for n, token in enumerate(letters[0]) if token != letters[1][n]]
    x, y, z = (tokens[place] for tokens in letters)

    class Knows(nn.Linear):
        def forward(self, tokens, mask):
            logits = torch.full((*tokens.shape, tokenizer.size), -99.0)
            logits[..., x], logits[..., y] = math.log(0.7), math.log(0.3)
            logits[tokens == z, :] = 0
            return logits

    texts = [f"a {MASK} b {MASK}", f"{MASK} c"]
    rows = predict.predict(config, Knows(1, 1), texts, 2)
    seen = [(row["text"], row["mask"]) for row in rows[::2]]
    assert seen == [(texts[0], 1), (texts[0], 2), (texts[1], 1)] and len(rows) == 6
    assert [row["probability"] for row in rows] == pytest.approx([0.7, 0.3] * 3)
    assert len({row["filled"] for row in rows[:4]}) == 3, "the first of each are the same"
    found = predict.predict(config, model, texts[1:], 2)
    together = predict.predict(config, model, texts, 2)[4:]
    for row, other in zip(found, together, strict=True):
        assert row["filled"] == other["filled"]
        assert row["probability"] == pytest.approx(other["probability"], rel=1e-4)


def test_a_text_without_a_mask_or_too_long_is_refused(trained):
    config, model = predict.load(trained[0])
    for text, said in (("no mask", "Write .MASK. for"), (MASK + " a" * 999, "--max-length")):
        with pytest.raises(SystemExit, match=said):
            predict.predict(config, model, [text])

#: slot five
texts = ["for [MASK]", "[MASK]", "import [MASK]s", "def [MASK][MASK]", "x = [MASK]"]
found = predict.predict(config, model, texts, 1)
rows = [row for row in found if row["mask"] == 1]
