from dataclasses import replace

import pytest
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

import train
from callbacks import write_sample
from data import Pairs, build_loaders, collate, encode_prompt, find_ends, show
from helpers import SETTINGS, build_exact_model
from lib.pairs import Pair, read_pair
from metrics import IGNORED
from model import build_model, build_tokenizer
from reference import ROUNDING, Reference, answer_log_probs, find_gaps

#: into tests/test_features.py
#: slot tests
TURNS = [("user", "sort cab"), ("assistant", "abc"), ("user", "add 1 to 2"), ("assistant", "3")]
MESSAGES = [{"role": role, "content": content} for role, content in TURNS]


def make_pairs(config, *conversations, wrong: str = "4") -> Pairs:
    """Pairs of conversations that only differ in the last answer."""
    pairs = [
        Pair(chat, [*chat[:-1], {"role": "assistant", "content": wrong}], "here")
        for chat in conversations
    ]
    return Pairs(pairs, config, Reference(config))


def test_only_the_last_answers_count():
    """Each with the token that ends it, and not the answer of an earlier turn."""
    config = train.Config(**SETTINGS)
    tokenizer, [sample] = build_tokenizer(config), make_pairs(config, MESSAGES)
    for (inputs, targets), answer in zip(sample[:2], ("3", "4"), strict=True):
        counted = targets[targets != IGNORED].tolist()
        text = tokenizer.decode(counted)  # perhaps with what the chat template adds to an answer
        assert text.endswith(answer) and "abc" not in text and "add" not in text
        assert sum(token in find_ends(config) for token in counted) == 1, "it must learn to stop"
        later = targets[:-1] != IGNORED
        assert torch.equal(inputs[1:][later], targets[:-1][later]), "a target is the next token"
        assert show((inputs, targets), config).count("[[") == 1
    prompt = encode_prompt(MESSAGES[:3], config)
    assert sample[0][0][: len(prompt)].tolist() == prompt, "predict.py would differ"


def test_log_probabilities_are_those_of_single_answers():
    """For any padding, and without the prompt: by the chain rule, token by token."""
    config = train.Config(**SETTINGS)
    model = build_exact_model(config).eval()
    samples = list(make_pairs(config, MESSAGES, MESSAGES[:2], wrong="a longer answer"))
    inputs, targets, *_ = collate(samples)
    assert inputs.shape == targets.shape and inputs.shape[:2] == (2, {{ task.rows }})
    found = answer_log_probs(model, inputs, targets)
    for row, sample in zip(found, samples, strict=True):
        for value, (tokens, nexts) in zip(row, sample[:-2], strict=True):
            logits = model(tokens[None])[0].log_softmax(dim=-1)
            steps = [logits[i, t] for i, t in enumerate(nexts.tolist()) if t != IGNORED]
            #: region total
            expected = sum(steps)
            #: end total
            torch.testing.assert_close(value, expected, rtol=0, atol=1e-4)


#: region reference
def test_the_reference_is_the_model_before_training():
    """In evaluation mode, the same for any order of pairs, and fixed while the model trains."""
    config = train.Config(**SETTINGS)
    torch.manual_seed(config.seed)
    numbers = torch.get_rng_state()
    loader = build_loaders(config)[1]
    assert torch.equal(torch.get_rng_state(), numbers), "training would get different weights"
    model = build_model(config).eval()
    inputs, targets, reference, beta = next(iter(loader))
    found = answer_log_probs(model, inputs, targets)
    torch.testing.assert_close(found, reference, rtol=0, atol=1e-3)
    assert not reference.requires_grad and beta.unique().tolist() == [pytest.approx(config.beta)]
    metrics = train.evaluate(Accelerator(), model, loader, "val", 1)
    #: region first_loss
    gap = torch.zeros(1)
    expected = train.compute_loss(gap, torch.full_like(gap, config.beta)).item()
    #: end first_loss
    assert metrics["val_loss"] == pytest.approx(expected, rel=1e-3)
    assert metrics["val_reward_accuracy"] == 0, "rounding errors are not a preference"
#: end reference


def test_rewards_tell_answers_apart():
    """While a model learns which of two answers is right: the metrics, from their definition."""
    config = train.Config(**SETTINGS)
    model = build_exact_model(config)
    chats = [[{"role": "user", "content": text}, MESSAGES[1]] for text in "abcdefgh"]
    data = make_pairs(config, *chats, wrong="cba")
    loader = DataLoader(data, 3, collate_fn=collate)
    inputs, targets, reference, beta = collate(list(data))
    optimizer, accelerator = torch.optim.Adam(model.parameters(), 0.003), Accelerator()
    for _ in range(20):
        log_probs = answer_log_probs(model, inputs, targets)
        metrics = train.evaluate(accelerator, model, loader, "val")
        #: region margins
        rewards = config.beta * (log_probs - reference)
        margins = rewards[:, 0] - rewards[:, 1]
        #: end margins
        assert metrics["val_reward_margin"] == pytest.approx(margins.mean().item(), abs=1e-4)
        assert metrics["val_reward_accuracy"] == (margins > ROUNDING).sum() / 8
        #: region backward
        train.compute_loss(find_gaps(log_probs, reference), beta).mean().backward()
        #: end backward
        optimizer.step()
        optimizer.zero_grad()
    assert metrics["val_reward_accuracy"] == 1, "it never learned them"


def test_what_is_cut_off_is_counted(capsys):
    """Of three pairs that are too long, one has no answers left, and one the same answers."""
    config = train.Config(**SETTINGS)
    [sample] = make_pairs(config, MESSAGES)
    config = replace(config, context=len(sample[0][0]) - 1)
    late = [{"role": "user", "content": "x" * 500}, MESSAGES[1]]
    same = [MESSAGES[0], {"role": "assistant", "content": "4"}]
    assert len(make_pairs(config, MESSAGES, late, same)) == 1
    said = capsys.readouterr().out
    assert "3 pairs: " in said and "2 without two different answers" in said


ANSWERS = {"chosen": "b", "rejected": "c"}


def test_forms_of_a_row():
    """Texts, messages, and whole conversations, with or without a separate prompt."""
    asked = {"role": "user", "content": "a"}
    one, other = ({"role": "assistant", "content": text} for text in "bc")
    whole = {"chosen": [asked, one], "rejected": [asked, other]}
    for row in (
        {"prompt": "a", **ANSWERS},
        {"prompt": [asked], "chosen": [one], "rejected": [other]},
        {"prompt": "a", **whole},
        whole,
    ):
        assert read_pair(row, "here") == Pair([asked, one], [asked, other], "here")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"text": "a"}, "has text: it needs prompt, chosen and rejected"),
        ({"prompt": "a", "chosen": "b", "rejected": None}, "prompt and rejected must be texts or"),
        ({"prompt": 1, **ANSWERS}, "prompt and chosen must be texts or"),
        ({"prompt": [{"role": "user"}], **ANSWERS}, "message 1 needs a role and a content"),
        (ANSWERS, "has no prompt"),
        ({"prompt": "a", "chosen": [], "rejected": []}, "does not end with an assistant message"),
        ({"chosen": MESSAGES, "rejected": MESSAGES[:2]}, "answer different prompts"),
    ],
)
def test_a_wrong_row_is_named(row, said):
    with pytest.raises(SystemExit, match="pairs.jsonl, line 3.*") as error:
        read_pair(row, "pairs.jsonl, line 3")
    assert said in str(error.value)


def test_writing_a_sample_does_not_change_training(tmp_path):
    config = train.Config(**SETTINGS)
    model, examples = build_model(config), [make_pairs(config, MESSAGES)[0][0]]
    numbers = torch.get_rng_state()
    write_sample(model, config, examples, tmp_path / "sample.txt", length=4)
    assert torch.equal(torch.get_rng_state(), numbers), "training would get different dropout"
    assert model.training
    written = (tmp_path / "sample.txt").read_text(encoding="utf-8")
    assert "sort cab" in written and "\ndata:  " in written and "\nmodel: " in written

#: replace reference when loss=simpo|orpo
def test_there_is_no_reference():
    """No second model is built, and a sure answer has finite rewards and gradients."""
    config = train.Config(**SETTINGS)
    [(*_, reference, beta)] = make_pairs(config, MESSAGES)
    assert reference.tolist() == [0, 0] and beta == config.beta
    log_probs = torch.tensor([[0.0, -2.0], [-1e-9, 0.0]], requires_grad=True)
    losses = train.compute_loss(find_gaps(log_probs, torch.zeros(2, 2)), torch.full((2,), beta))
    losses.sum().backward()
    assert losses.isfinite().all() and log_probs.grad.isfinite().all()

#: replace margins when loss=orpo
probs = log_probs.exp()
odds = probs / (1 - probs)
margins = config.beta * (odds[:, 0] / odds[:, 1]).log()

#: replace first_loss when loss=kto
expected = 0.5  # neither answer has moved

#: replace backward when loss=kto
gains = log_probs - reference
train.compute_loss(gains, gains[:, 2:].mean().detach(), beta).mean().backward()

#: slot tests when loss=kto
def test_each_prompt_also_has_the_answers_of_the_pair_before():
    """After the same tokens as its own answers, and with the end token of the others."""
    config = train.Config(**SETTINGS)
    samples = make_pairs(config, MESSAGES, MESSAGES[:2], MESSAGES, wrong="a longer answer")
    tokenizer = build_tokenizer(config)
    for number, sample in enumerate(samples):
        for own, other, (inputs, targets) in zip(
            sample[:2], samples[number - 1][:2], sample[2:4], strict=True
        ):
            answer, its = targets[targets != IGNORED], other[1][other[1] != IGNORED]
            assert torch.equal(answer, its), tokenizer.decode(answer.tolist())
            start = int((own[1] != IGNORED).nonzero()[0]) + 1
            assert torch.equal(inputs[:start], own[0][:start]), "another prompt"
            assert torch.equal(inputs[start:], answer[:-1])


def test_the_loss_of_an_answer_is_that_of_its_definition():
    """The mean of the others is never below 0, and has no gradient."""
    beta = torch.tensor([0.5, 0.5])
    for others, drift in (((1.0, 2.0, 3.0, 6.0), 3.0), ((-1.0, -2.0, 0.0, 0.0), 0.0)):
        rows = torch.tensor([[4.0, 1.0, *others[:2]], [0.0, 2.0, *others[2:]]])
        chosen, rejected = (0.5 * (rows[:, i] - drift) for i in (0, 1))
        found = train.compute_loss(rows, rows[:, 2:].mean(), beta)
        weighted = (
            train.DESIRABLE * (1 - torch.sigmoid(chosen)),
            train.UNDESIRABLE * (1 - torch.sigmoid(-rejected)),
        )
        torch.testing.assert_close(found, sum(weighted) / 2)
        losses, margins = train.score(rows, beta)
        torch.testing.assert_close(losses, found)
        torch.testing.assert_close(margins, chosen - rejected)

#: replace total when loss=ipo|simpo|orpo
expected = sum(steps) / len(steps)

#: replace samples with find_batch_size
samples = find_batch_size([*args, *kwargs.values()]) // 2  # the model takes a pair as two rows

#: into tests/test_predict.py
#: slot functions
def test_prompts_of_a_file(trained, tmp_path):
    config, path = predict.load(trained[0])[0], tmp_path / "prompts.jsonl"
    question, answer = {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}
    both = {"chosen": [answer], "rejected": "d"}
    rows = [{"prompt": "a", "id": 1}, {"prompt": [question], **both}]
    path.write_text("\n\n".join(map(json.dumps, rows)) + "\n")
    assert predict.read_inputs(config, [str(path)]) == ["a", [question]]
    path.write_text('{"prompt": "a"}\n{"text": "b"}\n')
    with pytest.raises(SystemExit, match="prompts.jsonl, line 2 has text"):
        predict.read_inputs(config, [str(path)])
