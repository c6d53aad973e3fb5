from dataclasses import replace

import pytest
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

import train
from data import Pairs, build_loaders, collate
from helpers import SETTINGS, build_exact_model
from lib.conversations import Conversation
from lib.pairs import Pair, read_pair

#: into tests/test_features.py
#: slot tests
TURNS = [("user", "sort cab"), ("assistant", "abc"), ("user", "add 1 to 2"), ("assistant", "3")]
MESSAGES = [{"role": role, "content": content} for role, content in TURNS]


def make_pairs(config, *conversations, wrong: str = "4") -> Pairs:
    """Pairs of conversations that only differ in the last answer."""
    answer = {"role": "assistant", "content": wrong}
    return Pairs([Pair(chat, [*chat[:-1], answer], "here") for chat in conversations], config)


def test_rewards_do_not_depend_on_padding():
    """Nor on the other conversations of a batch."""
    config = train.Config(**SETTINGS)
    model = build_exact_model(config).eval()
    samples = list(make_pairs(config, MESSAGES, MESSAGES[:2], wrong="a longer answer"))
    rewards = train.find_rewards(model, *collate(samples))
    for pair, found in zip(samples, rewards, strict=True):
        for chat, reward in zip(pair, found, strict=True):
            alone = model(chat[None], torch.ones(1, len(chat), dtype=torch.bool))
            torch.testing.assert_close(reward[None], alone, rtol=0, atol=1e-4)


def test_rewards_tell_answers_apart():
    """While a model learns which of two answers is right: the metrics, from their definition."""
    config = train.Config(**SETTINGS)
    model, accelerator = build_exact_model(config), Accelerator()
    chats = [[{"role": "user", "content": text}, MESSAGES[1]] for text in "abcdefgh"]
    data = make_pairs(config, *chats, wrong="cba")
    loader = DataLoader(data, 3, collate_fn=collate)
    optimizer = torch.optim.Adam(model.parameters(), 0.003)
    for _ in range(100):
        chosen, rejected = train.find_rewards(model, *collate(list(data))).unbind(dim=1)
        loss = (1 + (rejected - chosen).exp()).log().mean()
        metrics = train.evaluate(accelerator, model, loader, "val")
        assert metrics["val_loss"] == pytest.approx(loss.item(), abs=1e-5)
        assert metrics["val_accuracy"] == (chosen > rejected).sum() / 8
        assert metrics["val_margin"] == pytest.approx((chosen - rejected).mean().item(), abs=1e-5)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert metrics["val_accuracy"] == 1, "it never learned them"


def test_what_is_left_out_is_counted(capsys):
    """Of three pairs, one is too long, and one has the same answer twice."""
    config = train.Config(**SETTINGS)
    [sample] = make_pairs(config, MESSAGES)
    config = replace(config, context=len(sample[0]))
    late = [{"role": "user", "content": "x" * 500}, MESSAGES[1]]
    same = [MESSAGES[0], {"role": "assistant", "content": "4"}]
    assert len(make_pairs(config, MESSAGES, late, same)) == 1
    said = capsys.readouterr().out
    assert "3 pairs: 1 longer than" in said and "here: chosen and rejected are equal" in said
    with pytest.raises(SystemExit, match="no pair has two different answers"):
        make_pairs(config, same)


ANSWERS = {"chosen": "b", "rejected": "c"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"prompt": "a", "chosen": "b"}, "has prompt, chosen: it needs prompt, chosen and rejected"),
        ({"prompt": "a", "chosen": "b", "rejected": None}, "prompt and rejected must be texts or"),
        (ANSWERS, "has no prompt"),
        ({"chosen": MESSAGES, "rejected": MESSAGES[:2]}, "answer different prompts"),
    ],
)
def test_a_wrong_row_is_named(row, said):
    with pytest.raises(SystemExit, match="pairs.jsonl, line 3.*") as error:
        read_pair(row, "pairs.jsonl, line 3")
    assert said in str(error.value)

#: replace samples with find_batch_size
samples = find_batch_size([*args, *kwargs.values()]) // 2  # the model takes a pair as two rows

#: into tests/test_app.py
#: slot values
values = ["add 1 to 2", "3"]

#: slot expected
chat = [{"role": "user", "content": values[0]}, {"role": "assistant", "content": values[1]}]
[row] = app.predict(config, model, [Conversation(chat, "here")])
assert shown == row["reward"]

#: into tests/test_predict.py
#: slot functions
PAIR = {"prompt": "a", "chosen": "b", "rejected": "c"}


def test_conversations_of_a_file(trained, tmp_path):
    """Of rows with messages, and of the pairs of training."""
    config, path = predict.load(trained[0])[0], tmp_path / "chats.jsonl"
    chat = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    path.write_text("\n\n".join(map(json.dumps, [{"messages": chat}, PAIR])) + "\n")
    one, chosen, rejected = predict.read_inputs(config, [str(path)])
    assert one.messages == chosen.messages == chat
    assert rejected.messages[-1]["content"] == "c" and rejected.place.endswith("line 3")
    path.write_text('{"prompt": "a"}\n')
    with pytest.raises(SystemExit, match="chats.jsonl, line 1 has prompt: it needs"):
        predict.read_inputs(config, [str(path)])


def write_chats(*answers: str) -> list[Conversation]:
    question = {"role": "user", "content": "add 1 to 20"}
    chats = [[question, {"role": "assistant", "content": text}] for text in answers]
    return [Conversation(messages, "here") for messages in chats]


#: slot metric
accelerator = Accelerator(mixed_precision=getattr(config, "mixed_precision", "no"))
model, loader = accelerator.prepare(model, build_loaders(config)[2])
metrics = train.evaluate(accelerator, model, loader, "test", config.limit_batches)
assert metrics["test_accuracy"] == pytest.approx(reported["test_accuracy"], rel=1e-6)

#: slot five
rows = predict.predict(config, model, write_chats("21", "a longer answer", "12", "", "x"))
