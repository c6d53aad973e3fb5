from dataclasses import replace

import pytest
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

import train
from callbacks import write_sample
from data import (
    Conversation,
    Conversations,
    Packed,
    collate,
    encode_prompt,
    find_ends,
    read_messages,
    show,
    split_at_answer,
)
from generation import generate
from helpers import SETTINGS, build_exact_model
from metrics import IGNORED, count_tokens
from model import build_model, build_tokenizer

#: into tests/test_features.py
#: slot tests
TURNS = [("user", "sort cab"), ("assistant", "abc"), ("user", "add 1 to 2"), ("assistant", "3")]
MESSAGES = [{"role": role, "content": content} for role, content in TURNS]


def make_samples(config, *conversations) -> Conversations:
    return Conversations([Conversation(messages, "here") for messages in conversations], config)


def test_only_the_answers_count():
    """Those of all turns, with the tokens that end them."""
    config = train.Config(**SETTINGS)
    tokenizer, [sample] = build_tokenizer(config), make_samples(config, MESSAGES)
    inputs, targets = sample[0], sample[-1]
    counted = targets[targets != IGNORED].tolist()
    text = tokenizer.decode(counted)  # perhaps with what the chat template adds to an answer
    assert text.startswith("abc") and text.endswith("3") and "sort" not in text
    assert sum(token in find_ends(config) for token in counted) == 2, "the model must learn to stop"
    later = targets[:-1] != IGNORED
    assert torch.equal(inputs[1:][later], targets[:-1][later]), "a target is the next token"
    shown = [part for part in show(sample, config).split("[[")[1:] if "]]" in part]
    assert len(shown) == 2 and shown[0].startswith("abc")


def test_a_prompt_is_the_beginning_of_its_conversation():
    """Otherwise, predictions would use other prompts than training."""
    config = train.Config(**SETTINGS)
    [sample] = make_samples(config, MESSAGES)
    prompt, answer = split_at_answer(sample)
    assert encode_prompt(MESSAGES[:3], config) == prompt
    assert build_tokenizer(config).decode(answer).endswith("3")


def test_what_is_cut_off_is_counted(capsys):
    """Of two conversations that are too long, one has no answer left."""
    config = train.Config(**SETTINGS)
    [sample] = make_samples(config, MESSAGES)
    config = replace(config, context=len(sample[0]) - 1)
    late = [{"role": "user", "content": "x" * 500}, MESSAGES[1]]
    assert len(make_samples(config, MESSAGES, MESSAGES[:2], late)) == 2
    said = capsys.readouterr().out
    assert "3 conversations: " in said and "1 without an answer" in said


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"text": "a"}, "has text: it needs messages, or prompt and completion"),
        ({"messages": []}, "messages is not a list, or is empty"),
        ({"messages": [{"role": "user"}]}, "message 1 needs a role and a content"),
        ({"prompt": "a", "completion": 1}, "message 2 needs a role and a content"),
    ],
)
def test_a_wrong_row_is_named(row, said):
    with pytest.raises(SystemExit, match="chats.jsonl, line 3.*") as error:
        read_messages(row, "chats.jsonl, line 3")
    assert said in str(error.value)


def test_exact_match_is_that_of_generated_answers():
    """While a model learns to answer eight questions: none of them right, some, all."""
    config = train.Config(**SETTINGS)
    model = build_exact_model(config)
    chats = [[{"role": "user", "content": text}, MESSAGES[1]] for text in "abcdefgh"]
    data = make_samples(config, *chats)
    prompts, answers = zip(*map(split_at_answer, data), strict=True)
    optimizer, ends = torch.optim.Adam(model.parameters(), 0.01), find_ends(config)
    loader, accelerator, right = DataLoader(data, 3, collate_fn=collate), Accelerator(), []
    for _ in range(100):
        metrics = train.evaluate(accelerator, model, loader, "val")
        written = generate(model.eval(), prompts, ends, config.context, 40, "cpu")
        pairs = zip(written, answers, strict=True)
        right = [tokens == [x for x in answer if x not in ends] for tokens, answer in pairs]
        assert metrics["val_exact_match"] == sum(right) / 8
        if all(right):
            break
        *inputs, targets = collate(list(data))
        train.compute_loss(model(*inputs), targets).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert all(right), "it never learned them"


def test_writing_a_sample_does_not_change_training(tmp_path):
    config = train.Config(**SETTINGS)
    model, examples = build_model(config), make_samples(config, MESSAGES)
    numbers = torch.get_rng_state()
    write_sample(model, config, examples, tmp_path / "sample.txt", length=4)
    assert torch.equal(torch.get_rng_state(), numbers), "training would get different dropout"
    assert model.training
    written = (tmp_path / "sample.txt").read_text(encoding="utf-8")
    assert "sort cab" in written and "\ndata:  " in written and "\nmodel: " in written

#: slot tests when packing=best_fit
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

#: into tests/test_predict.py
#: slot functions
def test_prompts_of_a_file(trained, tmp_path):
    config, path = predict.load(trained[0])[0], tmp_path / "prompts.jsonl"
    question, answer = {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}
    rows = [{"prompt": "a", "id": 1}, {"messages": [question]}, {"messages": [question, answer]}]
    path.write_text("\n\n".join(map(json.dumps, rows)) + "\n")
    assert predict.read_inputs(config, [str(path)]) == ["a", [question], [question]]
    path.write_text('{"prompt": "a"}\n{"text": "b"}\n')
    with pytest.raises(SystemExit, match="prompts.jsonl, line 2 has text"):
        predict.read_inputs(config, [str(path)])
