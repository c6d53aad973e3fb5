"""Masked tokens: texts of each form, exact perplexity, and pretrained models."""

import json
from functools import partial
from pathlib import Path

import pytest

from support.bad_files import refuse_paths
from support.encoders import (
    ENCODERS,
    assert_is_tuned,
    assert_ten_steps,
    make_encoders,
    pretrained,
    project_of_steps,
)
from support.files import write_files
from support.rendering import write_project
from support.scores import ON_PROCESSES, score_sets
from support.training import ask, call, read_rows, run, said, succeed

pytestmark = pytest.mark.train

project = partial(write_project, task="masked_language_model")


def test_texts_of_each_form_are_read(tmp_path: Path) -> None:
    """JSON lines, a folder, and a file, which is split by position."""
    folder = project(tmp_path, dataset="text", path="texts.jsonl")
    texts = [f"text {number}\nwith naïve lines" for number in range(20)]
    rows = [json.dumps({"text": text, "other": 1}) for text in [*texts, ""]]
    (tmp_path / "texts.jsonl").write_text("\n\n".join(rows), encoding="utf-8-sig")
    write_files(tmp_path / "parts", {f"{n:02}.txt": text for n, text in enumerate(texts)})
    (tmp_path / "long.txt").write_text("x" * 1000)
    (tmp_path / "short.txt").write_text("ab")
    code = "read = lambda **more: data.read_documents(train.Config(**more))"
    objects, files, long = ask(folder, code, "[read(), read(path='parts'), read(path='long.txt')]")
    assert objects == files and sorted(text for part in objects for text in part) == sorted(texts)
    assert [len(part) for part in objects] == [16, 2, 2]
    assert [len(part[0]) for part in long] == [900, 50, 50]
    refuse_paths(folder, {"short.txt": "The validation data have no text: short.txt is too short"})


# --- metrics ------------------------------------------------------------------------------------

COUNT = """
import math
from data import Block, mask_and_pad, mask_tokens
from functools import partial
from metrics import IGNORED

class Known(nn.Module):
    # of a token and its place alone, so it does not depend on the batch
    def forward(self, tokens, mask):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        seen = (tokens * 31 + places * 7) % 257
        return (torch.arange(257) * seen.unsqueeze(2) % 11).float() * mask.unsqueeze(2)

known = Known()
for size, batch_size in cases:
    blocks = []
    for seed in range(size):
        length = int(torch.randint(1, 60, (), generator=draw))
        tokens = torch.randint(0, 256, (length,), generator=draw)
        blocks.append(Block(tokens, torch.arange(length) // 3, seed))
    losses, right, targeted = 0.0, 0, 0
    for block in blocks:
        inputs, targets = mask_tokens(block, config)
        scores = known(inputs[None], torch.ones(1, len(inputs)) > 0)[0].double().log_softmax(1)
        for row, target in zip(scores, targets.tolist(), strict=True):
            if target != IGNORED:
                losses, targeted = losses - float(row[target]), targeted + 1
                right += int(row.argmax()) == target
    loader = DataLoader(blocks, batch_size, collate_fn=partial(mask_and_pad, config=config))
    found = train.evaluate(accelerator, known, accelerator.prepare(loader), "val")
    assert abs(found["val_loss"] - losses / targeted) < 1e-5, (size, batch_size)
    assert abs(found["val_perplexity"] / math.exp(losses / targeted) - 1) < 1e-5
    assert abs(found["val_accuracy"] - right / targeted) < 1e-6
"""


@pytest.mark.parametrize("processes", ON_PROCESSES)
@pytest.mark.parametrize("words", [False, pytest.param(True, marks=pytest.mark.sweep)])
def test_perplexity_is_that_of_the_whole_set(
    words: bool, processes: int, tmp_path: Path, proven
) -> None:
    """One token after the other, for each number of blocks and batch size, with the same masks."""
    count = score_sets(project(tmp_path, whole_words=words), COUNT, processes)
    proven("sets whose perplexity of masked tokens is that of one token after the other", count)


# --- pretrained models --------------------------------------------------------------------------

TEXTS = "data.read_documents(config)[0]"
# a model that was not trained with masks
MAKE_GPT = """
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Tokenizer
tokenizer = GPT2Tokenizer().train_new_from_iterator(["a text"], 300, show_progress=False)
tokenizer.save_pretrained("gpt2")
GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=1, n_head=2)).save_pretrained("gpt2")
"""
BLOCKS = """
import torch
from dataclasses import replace
tokenizer = data.build_tokenizer(config)
texts = ["def unbelievable(self): return 12345", "", "word " * 100]
blocks = list(data.Blocks(texts, "training", config))
words = replace(config, whole_words=True, mask_rate=0.5)
cut = 0
for seed in range(30):
    for block in blocks:
        chosen = data.mask_tokens(block._replace(seed=seed), words)[1] >= 0
        for word in set(block.words.tolist()):
            some = chosen[block.words == word]
            cut += bool(some.any()) != bool(some.all()) or (word < 0 and bool(some.any()))
special = [tokenizer.decode(block.tokens[block.words < 0].tolist()) for block in blocks]
several = any(int((block.words == word).sum()) > 1 for block in blocks for word in range(5))
"""


@pytest.mark.sweep
@pytest.mark.parametrize("name", ENCODERS)
def test_a_pretrained_model_is_trained(name: str, tmp_path: Path) -> None:
    """Long texts have several blocks, special tokens no target, and words are masked whole."""
    folder = project(tmp_path, **pretrained(name))
    make_encoders(folder, TEXTS, all="AutoModelForMaskedLM")
    lengths = "[len(block.tokens) for block in blocks]"
    sizes, cut, special, several = ask(folder, BLOCKS, f"[{lengths}, cut, special, several]")
    assert max(sizes) == 64 and len(sizes) >= 3 and cut == 0 and several
    assert set(special) == {""}
    assert_is_tuned(folder)
    rows = read_rows(run(folder, "predict.py", "import [MASK]", "--json", "--top", "3"))
    assert len(rows) == 3 and all(row["filled"].startswith("import") for row in rows)
    succeed(call(folder, MAKE_GPT))
    [message] = said(folder, "train.py", ["--pretrained-name", "gpt2"])
    assert "has no mask token" in message


NOTE = """
tokenizer = data.build_tokenizer(config).tokenizer
collator = transformers.DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)

def note(blocks, config):
    rows = [{"input_ids": block.tokens.tolist()} for block in blocks]
    batch = collator([row | {"attention_mask": [1] * len(row["input_ids"])} for row in rows])
    seen.append(dict(batch))
    return batch["input_ids"], batch["attention_mask"].bool(), batch["labels"]
"""


@pytest.mark.sweep
def test_ten_steps_are_those_of_the_trainer_of_transformers(tmp_path: Path, proven) -> None:
    """With the masks of its collator for both, from the same weights, without dropout."""
    folder = project_of_steps(tmp_path, "masked_language_model")
    make_encoders(folder, TEXTS, all="AutoModelForMaskedLM")
    assert_ten_steps(folder, NOTE, "mask_and_pad", shifts=["key.bias"])
    proven("steps that are those of the Trainer of Transformers", 10)
