import pytest
import torch
import train
from data import Packed, collate, show
from helpers import SETTINGS, build_exact_model
from metrics import count_tokens

#: slot tests
CHATS = [
    [{"role": "user", "content": "b" * n}, {"role": "assistant", "content": "ab" * n}]
    for n in (1, 9, 2, 7, 3, 8, 4, 1)
]


def test_packed_rows_hold_each_conversation_once(capsys):
    config = train.Config(**SETTINGS)
    samples = make_samples(config, *CHATS)
    packed = Packed(samples, replace(config, context=2 * len(samples[1][0])))
    assert sorted(index for row in packed.rows for index in row) == list(range(8))
    assert len(packed) < 8 and max(len(row[0]) for row in packed) <= 2 * len(samples[1][0])
    assert "8 conversations are packed into" in capsys.readouterr().out
    _, positions, targets = collate(list(packed))
    assert count_tokens(targets).sum() == count_tokens(collate(list(samples))[-1]).sum()
    assert (positions == 0).sum() >= 8, "each text has its own positions"
    for row, sample in zip(packed.rows, packed, strict=True):
        assert show(sample, config) == "".join(show(samples[index], config) for index in row)


def test_training_on_packed_rows_is_training_on_separate_ones(capsys):
    """Ten steps of all conversations."""
    config = train.Config(**SETTINGS)
    samples = make_samples(config, *CHATS)
    losses = []
    for rows in (samples, Packed(samples, replace(config, context=2 * len(samples[1][0])))):
        torch.manual_seed(0)
        model = build_exact_model(config).train()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        *inputs, targets = collate(list(rows))
        losses.append([])
        for _ in range(10):
            loss = train.compute_loss(model(*inputs), targets).sum() / count_tokens(targets).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses[-1].append(loss.item())
    assert losses[1] == pytest.approx(losses[0], rel=0, abs=1e-5)
    assert losses[0][-1] < losses[0][0] - 0.01


def test_packed_texts_do_not_see_each_other():
    config = train.Config(**SETTINGS)
    samples = make_samples(config, *CHATS)
    model = build_exact_model(config).eval()
    inputs, positions, _ = (part[None] for part in Packed(samples, config)[0])
    second = int((positions[0] == 0).nonzero()[1])
    changed = inputs.clone()
    changed[:, :second] = inputs[:, 1:2]
    logits, others = (model(tokens, positions)[:, second:] for tokens in (inputs, changed))
    torch.testing.assert_close(others, logits, rtol=0, atol=1e-5)
