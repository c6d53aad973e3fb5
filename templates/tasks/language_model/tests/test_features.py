from dataclasses import replace

import pytest
import torch

import train
from callbacks import write_sample
from data import Blocks, MiddleLast, build_datasets, collate, put_middle_last, surround
from documents import encode_documents
from helpers import SETTINGS, build_exact_model
from metrics import count_tokens
from model import build_model, build_tokenizer

#: slot tests
def test_every_token_is_a_target_once():
    config = train.Config(context=16)
    tokenizer = build_tokenizer(config)
    document = "for line in file:\n    print(line)\n"
    blocks = Blocks(encode_documents([document, "pass"], tokenizer), config)
    targets = [token for block in blocks for token in block[1:].tolist()]
    ends = [tokenizer.end]
    assert targets == [*tokenizer.encode(document), *ends, *tokenizer.encode("pass"), *ends]
    inputs, padded = collate(list(blocks))
    assert count_tokens(padded).sum() == len(targets), "padding must not count"
    assert torch.equal(inputs[0, 1:], padded[0, :-1]), "a target is the token that follows"


def test_no_token_sees_a_later_one():
    config = train.Config(**SETTINGS)
    model = build_exact_model(config)
    text = "for line in file:\n    print(line)\n" * 3
    documents = encode_documents([text], build_tokenizer(config))
    inputs, _ = collate(list(Blocks(documents, config)))
    changed = inputs.clone()
    changed[:, 9] += 1
    logits, others = model(inputs), model(changed)
    torch.testing.assert_close(others[:, :9], logits[:, :9], rtol=0, atol=1e-5)
    assert not torch.allclose(others[:, 9:], logits[:, 9:], rtol=0, atol=1e-5)


def test_writing_a_sample_does_not_change_training(tmp_path):
    config = train.Config(**SETTINGS)
    model = build_model(config)
    numbers = torch.get_rng_state()
    for name in ("one", "other"):
        write_sample(model, config, tmp_path / name, length=8)
    assert torch.equal(torch.get_rng_state(), numbers), "training would get different dropout"
    assert model.training
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes(), "set a seed"

#: slot tests when fill_in_middle=psm|spm
def test_a_middle_comes_last_and_nothing_is_lost():
    config = train.Config(**SETTINGS)
    tokenizer = build_tokenizer(config)
    [block] = Blocks(encode_documents(["for line in file"], tokenizer), config)
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
