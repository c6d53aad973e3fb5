from dataclasses import replace

import numpy as np
import pytest
import torch

import train
from callbacks import write_sample
from data import Blocks, MiddleLast, build_datasets, collate, put_middle_last, surround
from documents import Documents, find_spans
from helpers import SETTINGS, build_exact_model
from metrics import count_tokens
from model import build_model, build_tokenizer

#: into tests/test_features.py
#: slot tests
def as_documents(texts, tokenizer):
    rows = tokenizer.encode_all(texts)
    return Documents(np.concatenate(rows), np.int64, find_spans([len(row) for row in rows]))


def test_every_token_is_a_target_once():
    config = train.Config(context=16)
    tokenizer = build_tokenizer(config)
    document = "for line in file:\n    print(line)\n"
    blocks = Blocks(as_documents([document, "pass"], tokenizer), config)
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
    documents = as_documents([text], build_tokenizer(config))
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
    [block] = Blocks(as_documents(["for line in file"], tokenizer), config)
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

#: into tests/test_predict.py
#: slot functions
@torch.inference_mode()
def test_a_text_is_drawn_token_by_token(trained):
    config, model = predict.load(trained[0], device="cpu")
    end = build_tokenizer(config).end
    starts = [[end], [end, 1, 2, 3, 4, 5]]
    for context, length in ((7, 0), (7, 1), (7, 6), (5, 4)):
        texts = predict.generate(model, starts, end, context, length, "cpu")
        for start, text in zip(starts, texts, strict=True):
            generator, tokens = torch.Generator().manual_seed(0), torch.tensor([start])
            while tokens.shape[1] < len(text) and end not in tokens[0, len(start) :]:
                logits = model(tokens[:, -context:])[:, -1]
                token = torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)
                tokens = torch.cat([tokens, token], dim=1)
            assert text.tolist()[: tokens.shape[1]] == tokens[0].tolist()
            assert len(text) == len(start) + length or end in text[len(start) :]


def test_a_text_does_not_depend_on_the_others(trained):
    config, model = predict.load(trained[0])
    prompts = ["def main(", "x" * 3 * config.context, ""]
    together = predict.predict(config, model, prompts, length=8)
    alone = [predict.predict(config, model, [prompt], length=8)[0] for prompt in prompts]
    assert together == alone
    assert all(row["text"].startswith(row["prompt"]) for row in together)

#: slot five
rows = predict.predict(config, model, ["def main(", "import os", "", "x", "for line in"], length=8)

#: slot functions when fill_in_middle=psm|spm
def test_a_middle_stands_between_its_prefix_and_suffix(trained):
    config, model = predict.load(trained[0])
    prompt = f"def f(x):{predict.GAP}return x"
    [row] = predict.predict(config, model, [prompt], length=8)
    assert row["text"].startswith("def f(x):") and row["text"].endswith("return x")
    with pytest.raises(SystemExit, match="shorten it"):
        predict.predict(config, model, [prompt + "x" * 4 * config.context], length=8)
