import torch

import train
from callbacks import write_sample
from data import Blocks, collate
from helpers import SETTINGS, build_exact_model
from metrics import count_tokens
from model import build_model, build_tokenizer

#: slot tests
def test_every_token_is_a_target_once():
    config = train.Config(context=16)
    tokenizer = build_tokenizer(config)
    document = "for line in file:\n    print(line)\n"
    blocks = Blocks([document, "pass"], config)
    targets = [token for block in blocks for token in block[1:].tolist()]
    ends = [tokenizer.end]
    assert targets == [*tokenizer.encode(document), *ends, *tokenizer.encode("pass"), *ends]
    inputs, padded = collate(list(blocks))
    assert count_tokens(padded).sum() == len(targets), "padding must not count"
    assert torch.equal(inputs[0, 1:], padded[0, :-1]), "a target is the token that follows"


def test_no_token_sees_a_later_one():
    config = train.Config(**SETTINGS)
    model = build_exact_model(config)
    inputs, _ = collate(list(Blocks(["for line in file:\n    print(line)\n" * 3], config)))
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
