import math

import torch
from torch import nn

from data import MASK, build_tokenizer

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
