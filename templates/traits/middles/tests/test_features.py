from dataclasses import replace

import pytest
import torch

import train
from data import Blocks, MiddleLast, build_datasets, put_middle_last, surround
from helpers import SETTINGS
from model import build_tokenizer

#: slot tests
def test_a_middle_comes_last_and_nothing_is_lost():
    config = train.Config(**SETTINGS)
    tokenizer = build_tokenizer(config)
    [block] = Blocks(["for line in file"], config)
    text = block[1:-1].tolist()  # between the ends of documents
    seen = set()
    for seed in range(50):
        generator = torch.Generator().manual_seed(seed)
        tokens = put_middle_last(block, tokenizer, generator).tolist()
        for start in range(len(text) + 1):
            for end in range(start, len(text) + 1):
                around = surround(text[:start], text[end:], tokenizer)
                if tokens == [*around, *text[start:end], tokenizer.end]:
                    seen.add((start, end))
    assert len(seen) > 10, "a rearranged block is not one with its middle last"


def test_blocks_are_rearranged_in_the_same_way_again():
    """It depends only on the seed, the epoch and the index, and only for training."""
    config = train.Config(**{**SETTINGS, "middle_rate": 0.5})
    blocks, *others = build_datasets(config)
    data, again = MiddleLast(blocks, config), MiddleLast(blocks, config)
    tokenizer = build_tokenizer(config)
    indices = range(min(len(data), 100))
    changed = [tokenizer.middle in data[index].tolist() for index in indices]
    assert any(changed) and not all(changed)
    for index in reversed(indices):
        assert torch.equal(again[index], data[index])
        assert len(data[index]) <= config.context + 1, "longer than the model sees"
    data.set_epoch(1)
    assert any(not torch.equal(again[index], data[index]) for index in indices)
    off = MiddleLast(blocks, replace(config, middle_rate=0.0))
    assert all(torch.equal(off[index], blocks[index]) for index in indices)
    assert not any(tokenizer.middle in block.tolist() for part in others for block in part)
    with pytest.raises(SystemExit, match="too short"):
        build_datasets(replace(config, context=7))
