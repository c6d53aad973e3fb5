"""The library of templates, called directly: what it does in a project, it does here."""

import random
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
sys.path.append(str(Path(__file__).parents[1] / "templates"))

from lib import (  # noqa: E402
    chats,
    json_lines,
    limits,
    padding,
    pretrained,
    rotary,
    rows,
    tokenizers,
    tokens,
    tsv,
    vectors,
)

# chats


def test_the_last_answer_of_a_conversation_is_split_off():
    ignored = tokens.IGNORED
    inputs = torch.tensor([1, 2, 3, 4, 5, 6])
    targets = torch.tensor([ignored, 3, ignored, ignored, 6, 7])
    assert chats.split_at_answer((inputs, targets)) == ([1, 2, 3, 4, 5], [6, 7])


def test_made_up_questions_have_right_answers():
    questions = dict(chats.write_question(random.Random(seed)) for seed in range(50))
    assert {text.split()[0] for text in questions} == {"reverse", "sort", "add"}
    for text, answer in questions.items():
        kind, word, *more = text.split()
        right = {"reverse": word[::-1], "sort": "".join(sorted(word))}
        assert answer == (right[kind] if kind in right else str(int(word) + int(more[1])))


# hub


def test_missing_splits_are_a_tenth_of_the_training_data():
    datasets = pytest.importorskip("datasets")
    from lib import hub

    train = datasets.Dataset.from_dict({"text": list("abcdefghijklmnopqrst")})
    splits = hub.complete_splits(datasets.DatasetDict({"train": train}))
    assert {name: len(part) for name, part in splits.items()} == {
        "train": 16,
        "validation": 2,
        "test": 2,
    }
    with pytest.raises(SystemExit, match="Too few rows"):
        hub.complete_splits(datasets.DatasetDict({"train": train.select(range(2))}))
    config = SimpleNamespace(dataset_name="/no/such/folder", dataset_subset="")
    with pytest.raises(SystemExit, match="can't be loaded"):
        hub.load_splits.__wrapped__(config)


# json_lines


def test_objects_are_read_with_their_places(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n')
    found = list(json_lines.read_objects(str(path)))
    assert found == [(f"{path}, line 1", {"a": 1}), (f"{path}, line 3", {"a": 2})]
    for text, said in (("[1]", "is not a JSON object"), ("{", "is not JSON")):
        path.write_text(text)
        with pytest.raises(SystemExit, match=said):
            list(json_lines.read_objects(str(path)))


# limits


@pytest.mark.parametrize("padding_idx, most", [(None, 8), (1, 6)])
def test_a_model_has_an_embedding_for_each_position(padding_idx, most):
    model = torch.nn.Sequential(torch.nn.Embedding(8, 2, padding_idx))
    found = SimpleNamespace(vocab_size=5, max_position_embeddings=8)
    model.config = SimpleNamespace(get_text_config=lambda: found)
    limits.check_limits(model, 5, most, "--max-length")
    with pytest.raises(SystemExit, match=f"at most {most} tokens: lower --max-length"):
        limits.check_limits(model, 5, most + 1, "--max-length")
    with pytest.raises(SystemExit, match="6 tokens, but the model has 5 embeddings"):
        limits.check_limits(model, 6, most, "--max-length")


# padding


def test_rows_are_padded_to_the_longest():
    padded = padding.pad([torch.tensor([1, 2, 3]), torch.tensor([4])], -1)
    assert padded.tolist() == [[1, 2, 3], [4, -1, -1]]


# pretrained


def test_a_model_that_is_not_found_is_named():
    def fail(name: str):
        raise OSError("no network")

    assert pretrained.load(SimpleNamespace(from_pretrained=str.upper), "gpt") == "GPT"
    with pytest.raises(SystemExit, match="--model-name gpt can't be loaded: no network"):
        pretrained.load(SimpleNamespace(from_pretrained=fail), "gpt")


# rotary


def test_attention_is_causal_without_a_mask_and_depends_on_distances():
    torch.manual_seed(0)
    block, x = rotary.Block(8, 2, 0.0), torch.randn(1, 5, 8)
    angles = torch.arange(5).unsqueeze(1) * torch.tensor([1.0, 0.1])
    later = x.clone()
    later[:, 3:] += 1
    found, other = block(x, angles), block(later, angles)
    torch.testing.assert_close(other[:, :3], found[:, :3])
    assert not torch.allclose(other[:, 3:], found[:, 3:])
    torch.testing.assert_close(block(x, angles + 2), found)


def test_padding_does_not_change_the_vectors_of_tokens():
    torch.manual_seed(0)
    layers, x = rotary.Layers(2, 16, 0.0), torch.randn(1, 5, 16)
    mask = torch.tensor([[True, True, True, False, False]])
    torch.testing.assert_close(layers(x, mask)[:, :3], layers(x[:, :3], mask[:, :3]))
    with pytest.raises(SystemExit, match="--width 12 is not a multiple of 8"):
        rotary.Layers(1, 12, 0.0)


# rows


def test_columns_of_a_row_are_texts():
    row = {"a": "x", "b": " ", "c": "y"}
    assert rows.check_row(row, ["c", "a"], "line 2", "--columns") == ("y", "x")
    with pytest.raises(SystemExit, match=r"line 2: there is no 'd' in a, b, c\. Set --columns\."):
        rows.check_row(row, ["d"], "line 2", "--columns")
    with pytest.raises(SystemExit, match="line 2: its b is not text"):
        rows.check_row(row, ["b"], "line 2", "--columns")


# tokenizers


def test_pieces_of_words_have_the_same_number_everywhere():
    text = "unbelievable, ok"
    pieces = tokenizers.split_pieces(text)
    assert [text[start:end] for start, end in pieces] == ["unbeliev", "able", ",", "ok"]
    numbers = tokenizers.number_pieces(text, pieces)
    assert all(tokenizers.END < number < tokenizers.PIECES for number in numbers)
    assert tokenizers.number_pieces("ok", [(0, 2)]) == numbers[-1:]


def test_a_text_is_cut_after_a_number_of_tokens():
    def words(text: str, **settings):
        return {"offset_mapping": [(0, 3), (4, 7), (8, 11)]}

    assert tokenizers.shorten("one two six", 2, words) == "one two"
    assert tokenizers.shorten("one two six", 3, words) == "one two six"


# tokens


def test_ignored_targets_do_not_count():
    targets = torch.tensor([[1, tokens.IGNORED], [0, 2]])
    assert tokens.count_tokens(targets).tolist() == [1, 2]


# tsv


def test_quotation_marks_of_a_tsv_are_text_where_each_line_is_a_row(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text('a\tb\n"x\ty\n')
    assert tsv.read_style(str(path)) == {"delimiter": "\t", "quoting": 3}
    path.write_text('a\tb\n"x\ny"\tz\n')
    assert tsv.read_style(str(path)) == {"delimiter": "\t", "strict": True}
    assert tsv.read_style("rows.csv") == {"strict": True}
    assert [tsv.unquote(cell) for cell in ('"a ""b"""', '"a', "a")] == ['a "b"', '"a', "a"]


# vectors


def test_padding_does_not_count_in_the_mean():
    states = torch.tensor([[[3.0, 0.0], [3.0, 8.0], [9.0, 9.0]]])
    found = vectors.pool(states, torch.tensor([[True, True, False]]))
    torch.testing.assert_close(found, torch.tensor([[0.6, 0.8]]))
