from dataclasses import replace

import pytest
import torch

import train
from data import Block, Blocks, NewMasks, build_datasets, build_tokenizer, mask_and_pad, mask_tokens
from helpers import SETTINGS, build_exact_model
from metrics import IGNORED

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
