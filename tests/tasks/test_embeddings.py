"""Embeddings: negatives and candidates of all processes, users' files, and pretrained models.

Of texts, and of images and texts.
"""

import json
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.combinations import in_turns
from support.encoders import ENCODERS, OURS, PLAIN, assert_is_tuned, make_encoders, pretrained
from support.inputs import write_rows
from support.rendering import write_project
from support.scores import ON_PROCESSES, run_cases, score_sets
from support.split import assert_split_is_whole
from support.training import ask, call, read_rows, run, said, succeed

pytestmark = pytest.mark.train

project = partial(write_project, task="embeddings")

TASK = {"project.task": "embeddings"}


# --- negatives ----------------------------------------------------------------------------------

GRADIENTS = """
import contrast

class Known(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(6, 4).double()
        if pairs:
            self.log_scale = nn.Parameter(torch.ones(1).double())

    def forward(self, parts, mask=None):
        vectors = nn.functional.normalize(self.layer(parts), dim=-1)
        return vectors * (self.log_scale / 2).exp() if pairs else vectors

def embed(network, rows):
    return network(rows) if pairs else contrast.embed(network, rows, rows)

more = () if pairs else (0.1,)  # the temperature
for size, texts, distinct in cases:
    whole = torch.randn(size * count, texts, 6, generator=draw, dtype=torch.float64)
    numbers = torch.randint(0, distinct, (size * count, texts), generator=draw)
    numbers[:, 1] += distinct if pairs else 0
    gradients = {}
    for name in ("one", "all"):
        network = Known()
        if name == "one":  # a single process with the whole batch
            vectors = embed(network, whole)
            losses = train.compute_loss(vectors, numbers, vectors, numbers, *more)
        else:
            network, rows = accelerator.prepare(network), slice(number * size, (number + 1) * size)
            vectors = embed(network, whole[rows])
            others = contrast.Gather.apply(vectors, accelerator)
            assert torch.equal(others[rows], vectors)
            known = accelerator.gather(numbers[rows])
            losses = train.compute_loss(vectors, numbers[rows], others, known, *more)
        accelerator.backward(losses.mean())
        gradients[name] = torch.cat([weight.grad.flatten() for weight in network.parameters()])
    assert gradients["one"].abs().max() > 1e-3
    worst = max(worst, float((gradients["all"] - gradients["one"]).abs().max()))
"""
# on each process: samples, texts of one, and how many differ
OF_TEXTS = [(n, texts, most) for n in (1, 4, 7) for texts in (2, 3) for most in (5, 1000)]
OF_PAIRS = [(n, 2, most) for n in (2, 4, 7) for most in (9, 1000)]


@pytest.mark.parametrize("processes", [2, pytest.param(3, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("dataset", ["paraphrases", "digits"])
def test_gradients_are_those_of_one_process_with_the_whole_batch(
    dataset: str, processes: int, tmp_path: Path, proven
) -> None:
    """Of pairs and triplets, also with equal texts, and of images, texts and the temperature.

    The negatives are those of all processes.
    """
    pairs = dataset == "digits"
    batches = OF_PAIRS if pairs else OF_TEXTS
    script = f"pairs = {pairs}\n{GRADIENTS}"
    assert run_cases(project(tmp_path, dataset=dataset), script, batches, processes) < 1e-12
    proven("batches whose gradients are those of one process", len(batches))


# --- metrics ------------------------------------------------------------------------------------

METRICS = """
from contrast import ROUNDING
from torchmetrics.retrieval import RetrievalHitRate, RetrievalMRR

METRICS = {"mrr": RetrievalMRR()}
METRICS |= {f"recall_at_{most}": RetrievalHitRate(top_k=most) for most in (1, 10)}
"""
SCORES = """
from data import collate

class Known(nn.Module):
    # the vector of a text depends on its letters alone, not on the batch
    temperature = 0.1

    def forward(self, tokens, mask):
        ways = torch.arange(1, 33)
        waves = torch.sin(tokens.double().unsqueeze(2) * ways * 0.37) * mask.unsqueeze(2)
        return nn.functional.normalize(waves.sum(dim=1).float(), dim=1)

for size, batch_size, texts, distinct in cases:
    numbers = torch.randint(0, distinct, (size, texts), generator=draw).tolist()
    samples = [(tuple(f"{n} word {n * 7 % 11}" for n in row), tuple(row)) for row in numbers]
    collated = lambda rows: collate(rows, config)
    loader = accelerator.prepare(DataLoader(samples, batch_size, collate_fn=collated))
    metrics = train.evaluate(accelerator, Known(), loader, "val")

    # one query after the other, with the candidates in a plain list
    every = sorted({number for row in numbers for number in row[1:]})
    strings = {n: text for row, ns in samples for text, n in zip(row, ns)}
    def embed(text):
        return Known()(*(part[0] for part in collated([((text,), (0,))])[:2]))[0]

    vectors = {n: embed(text) for n, text in strings.items()}
    losses, scores, relevant, queries = [], [], [], []
    for index, row in enumerate(numbers):
        own = {other[1] for other in numbers if other[0] == row[0]}
        rivals = [n for n in every if n not in own and n != row[0]]
        cosines = torch.stack([vectors[row[0]] @ vectors[n] for n in [row[1], *rivals]])
        losses.append(-(cosines / 0.1).log_softmax(dim=0)[0])
        cosines[0] -= ROUNDING  # a tie is lost
        scores.append(1.0 + cosines.argsort().argsort())  # torchmetrics drops what is not above 0
        relevant.append(torch.arange(len(cosines)) == 0)
        queries.append(torch.full((len(cosines),), index))
    scores, relevant, queries = map(torch.cat, (scores, relevant, queries))
    expected = {"loss": float(torch.stack(losses).mean())}
    for name, metric in METRICS.items():
        expected[name] = float(metric(scores, relevant, indexes=queries))
    for name, value in expected.items():
        found = metrics["val_" + name]
        assert abs(found - value) < 1e-6 * max(1, value), (name, size, batch_size, found, value)
"""
SIZES = [
    (size, batch, texts, distinct)
    for size in (1, 2, 3, 5, 12, 33, 80)
    for batch, texts, distinct in ((1, 2, 1000), (3, 3, 40), (8, 2, 40), (64, 3, 1000))
]


@pytest.mark.every_run
@pytest.mark.parametrize("processes", ON_PROCESSES)
def test_scores_are_those_of_torchmetrics(processes: int, tmp_path: Path, proven) -> None:
    """Over all texts of the set, for each number of rows and batch size, also with equal texts."""
    count = score_sets(project(tmp_path), METRICS + SCORES, processes, SIZES)
    proven("sets whose recall and MRR are those of torchmetrics", count)


# --- files --------------------------------------------------------------------------------------

NAMES = ("anchor", "positive", "negative")


SMALL = {
    "one text": [("a", "b")] * 12,
    "triplets, one of them long": [
        *[(f"a{n}", f"b{n}", "c") for n in range(11)],
        ("a " * 70_000,) * 3,
    ],
    "anchors that are positives": [(f"a{n}", f"a{(n + 1) % 12}") for n in range(12)],
}


@pytest.mark.every_run
@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("name", in_turns(SMALL, 3))
def test_small_files_train(name: str, processes: int, tmp_path: Path) -> None:
    """Then vectors are written in the order of the texts, and the closest ones found."""
    rows = SMALL[name]
    names = NAMES[: len(rows[0])]
    write_rows(tmp_path / "data.tsv", [names, *rows])
    paths = ["path"] if len(set(rows)) > 1 else ["path", "val_path", "test_path"]  # can't be split
    files = dict.fromkeys(paths, "data.tsv")
    folder = project(tmp_path, dataset="files", text_columns=",".join(names), **files)
    result = run(folder, "train.py", "--epochs", "2", "--batch-size", "2", processes=processes)
    assert "nan" not in result
    (tmp_path / "data.tsv").unlink()  # it needs no data
    (tmp_path / "texts.txt").write_text("b c\na\nc\n", encoding="utf-8")
    rows = read_rows(run(folder, "predict.py", "a", "texts.txt", "", processes=processes))
    assert [row["text"] for row in rows] == ["a", "b c", "a", "c", ""]
    assert {len(row["vector"]) for row in rows} == {64}
    assert not run(folder, "predict.py", "a", "texts.txt", "--npy", "all.npy", processes=processes)
    stored = ask(folder, "import numpy", "numpy.load('all.npy').tolist()")
    assert stored == [pytest.approx(row["vector"], abs=1e-6) for row in rows[:4]]
    asked = ["predict.py", "a", "--search", "texts.txt", "--count", "2"]
    [row] = read_rows(run(folder, *asked, processes=processes))
    assert row["text"] == row["found"][0]["text"] == "a" and len(row["found"]) == 2
    assert row["found"][0]["similarity"] == pytest.approx(1, abs=1e-5)
    (tmp_path / "empty.txt").write_text("")
    wrong = [["--search", "texts.csv"], ["--search", "empty.txt"], ["--npy", "no/where.npy"]]
    messages = said(folder, "predict.py", *(["a", *more] for more in wrong))
    assert "takes a .txt file with a text in each line, not 'texts.csv'" in messages[0]
    assert "empty.txt has no lines" in messages[1] and "can't be written" in messages[2]


UNTRAINED = """
from accelerate import Accelerator
accelerator = Accelerator()
parts = accelerator.prepare(model.build_model(config), data.build_loaders(config)[2])
untrained = train.evaluate(accelerator, *parts, "test")["test_recall_at_1"]
rows = data.load_rows(config)
common = sum(bool(set(a.lower().strip(".").split()) & set(b.lower().split())) for a, b in rows[0])
"""


@pytest.mark.sweep
def test_the_made_up_paraphrases_have_to_be_learned(tmp_path: Path) -> None:
    """They have no word in common, and an encoder with new weights finds none."""
    untrained, common = ask(project(tmp_path), UNTRAINED, "[untrained, common]")
    assert untrained < 0.02 and common == 0


# --- images and texts ---------------------------------------------------------------------------

PAIR_SCORES = """
class Known(nn.Module):
    # the vector of an image or a text depends on its number alone, not on the batch
    def forward(self, images, tokens, mask):
        return torch.stack([vectors_of(images), vectors_of(tokens)], dim=1) * 2

def vectors_of(numbers):
    waves = torch.sin((1 + numbers.double()).unsqueeze(1) * torch.arange(1, 9) * 0.37)
    return nn.functional.normalize(waves.float(), dim=1)

for size, batch_size, images, texts in cases:
    pairs = torch.randint(0, images, (size, 2), generator=draw)
    pairs[:, 1] = images + pairs[:, 1] % texts
    batches = [(image, text, text, torch.stack([image, text])) for image, text in pairs]
    loader = accelerator.prepare(DataLoader(batches, batch_size))
    metrics = train.evaluate(accelerator, Known(), loader, "val")
    known, losses = {tuple(pair) for pair in pairs.tolist()}, []
    for name, one, other in (("text", 0, 1), ("image", 1, 0)):
        # one query after the other, with the candidates in a plain list
        every = sorted(set(pairs[:, other].tolist()))
        scores, relevant, queries = [], [], []
        for index, pair in enumerate(pairs.tolist()):
            belongs = [((pair[0], n) if other else (n, pair[1])) in known for n in every]
            cosines = vectors_of(torch.tensor(every)) @ vectors_of(torch.tensor([pair[one]]))[0]
            own = cosines[every.index(pair[other])]
            wrong = cosines[~torch.tensor(belongs)]
            losses.append(-(torch.cat([own[None], wrong]) * 4).log_softmax(dim=0)[0])
            cosines[torch.tensor(belongs)] -= ROUNDING  # a tie is lost
            scores.append(1.0 + cosines.argsort().argsort())  # what is not above 0 is dropped
            relevant.append(torch.tensor(belongs))
            queries.append(torch.full((len(every),), index))
        given = torch.cat(scores), torch.cat(relevant), torch.cat(queries)
        for kind, metric in METRICS.items():
            expected = float(metric(given[0], given[1], indexes=given[2]))
            found = metrics[f"val_{name}_{kind}"]
            assert abs(found - expected) < 1e-6, (name, kind, size, batch_size, found, expected)
    expected, found = float(torch.stack(losses).mean()), metrics["val_loss"]
    assert abs(found - expected) < 1e-5 * max(1, expected), (size, batch_size, found, expected)
    both = (metrics["val_text_mrr"] + metrics["val_image_mrr"]) / 2
    assert abs(metrics["val_mrr"] - both) < 1e-9
"""
PAIR_SIZES = [
    (size, batch, images, texts)
    for size in (1, 2, 3, 5, 12, 33, 80)
    for batch, images, texts in ((1, 1000, 1000), (3, 30, 7), (8, 1000, 5), (64, 20, 20))
]


@pytest.mark.parametrize("processes", ON_PROCESSES)
def test_scores_of_pairs_are_those_of_torchmetrics(processes: int, tmp_path: Path, proven) -> None:
    """In both directions, over the whole set: several images with a text, and texts of an image."""
    folder = project(tmp_path, dataset="digits")
    count = score_sets(folder, METRICS + PAIR_SCORES, processes, PAIR_SIZES)
    proven("sets of images and texts whose recall and MRR are those of torchmetrics", count)


def write_pairs(folder: Path) -> None:
    """Images in a subfolder, and a table of them; two share a text."""
    from support.kinds import picture

    names = [f"photos/{number}.png" for number in range(12)]
    (folder / "photos").mkdir()
    for number, name in enumerate(names):
        (folder / name).write_bytes(picture(number))
    rows = [(name, f"colour {number // 2}") for number, name in enumerate(names)]
    write_rows(folder / "pairs.csv", [("image", "text"), *rows, (names[0], "another text")])


SMALL_IMAGES = {"image_size": 16, "width": 8, "training.num_workers": 0}


def test_images_and_texts_find_each_other(tmp_path: Path) -> None:
    """Those of a file are learned on two processes, and become vectors without the file."""
    folder = project(tmp_path, dataset="images", **SMALL_IMAGES)
    write_pairs(folder)
    (folder / "cut.png").write_bytes((folder / "photos/1.png").read_bytes()[:-200])
    assert "nan" not in run(folder, "train.py", "--epochs", "2", "--batch-size", "2", processes=2)
    (folder / "pairs.csv").unlink()  # it needs no data
    rows = read_rows(run(folder, "predict.py", "colour 1", "photos", "x" * 300, processes=2))
    assert [row.get("text") for row in rows] == ["colour 1", *[None] * 12, "x" * 300]
    photos = [str(path.relative_to(folder)) for path in (folder / "photos").iterdir()]
    assert [row["image"] for row in rows[1:-1]] == sorted(photos)
    assert {len(row["vector"]) for row in rows} == {8}
    (folder / "texts.txt").write_text("colour 1\ncolour 2\n", encoding="utf-8")
    searches = [("colour 1", "photos", "image"), ("photos/0.png", "texts.txt", "text")]
    for given, corpus, key in searches:
        [row] = read_rows(run(folder, "predict.py", given, "--search", corpus, "--count", "2"))
        assert given in row.values() and len(row["found"]) == 2
        assert all(one.keys() == {key, "similarity"} for one in row["found"])
        assert row["found"][0]["similarity"] >= row["found"][1]["similarity"]
    messages = said(folder, "predict.py", ["a", "--search", "pairs.csv"], ["cut.png"], ["no.png"])
    assert "takes a folder of images or a .txt file, not 'pairs.csv'" in messages[0]
    assert "cut.png can't be read as an image" in messages[1] and "no.png can't" in messages[2]


HUB_IMAGES = """
from datasets import Dataset, Features, Image, Sequence, Value
from PIL import Image as Pictures
picture = lambda n: Pictures.new("RGB", (20 + n, 17), (20 * n % 255, 90, 250 - n))
features = Features({"image": Image(), "captions": Sequence(Value("string"))})
for part, rows in (("train", 40), ("test", 4)):
    images = [picture(n // 2) if n < 4 else picture(n) for n in range(rows)]
    columns = {"image": images, "captions": [[f"colour {n}", "an image"] for n in range(rows)]}
    Dataset.from_dict(columns, features=features).to_parquet(f"own/{part}.parquet")
columns = {"image": [None] * 40, "captions": [["a"]] * 40}
Dataset.from_dict(columns, features=features).to_parquet("none/train.parquet")
columns = {"image": [picture(1)] * 40, "captions": [["a"], [" "]] * 20}
Dataset.from_dict(columns, features=features).to_parquet("blank/train.parquet")
"""


@pytest.mark.sweep
def test_a_dataset_of_images_of_the_hub_is_read(tmp_path: Path) -> None:
    """From a folder. Equal images are one, and a tenth of the images replaces a missing part."""
    more = {"dataset": "hub_images", "image_dataset": "own", "pair_columns": "image,captions"}
    folder = project(tmp_path, **more, **SMALL_IMAGES)
    for name in ("own", "none", "blank"):
        (tmp_path / name).mkdir()
    succeed(call(folder, HUB_IMAGES))
    code = "parts = data.load_rows(config)\n"
    code += "images = [{image for image, _ in part} for part in parts]\n"
    code += "pixels = data.build_datasets(config)[2][0][0]"
    sizes, counts, shape = ask(
        folder, code, "[list(map(len, parts)), list(map(len, images)), pixels.shape]"
    )
    assert sum(sizes) == 88 and sizes[2] == 8 and counts[2] == 2  # equal to two of train
    assert counts[:2] == [35, 3] and shape == [3, 16, 16]
    run(folder, "train.py", "--epochs", "1", "--batch-size", "8", processes=2)
    wrong = [["--pair-columns", "image,text"], ["--pair-columns", "captions,image"]]
    wrong += [["--dataset-name", name] for name in ("none", "blank", "nobody/nothing")]
    messages = said(folder, "train.py", *wrong)
    assert "own has no column 'text', only image, captions. Set --pair-columns." in messages[0]
    assert "The column 'captions' of own holds no images." in messages[1]
    assert "none, train, row 1: its image can't be read." in messages[2]
    assert "blank, train, row 2: its text is not text, but ' '" in messages[3]
    assert "'nobody/nothing' can't be loaded" in messages[4]


@pytest.mark.sweep
def test_two_encoders_can_be_split(tmp_path: Path) -> None:
    """By FSDP 2 among two processes: also the temperature, which is clamped from the start."""
    given = {**TASK, "embeddings.dataset": "digits", "training.optimizer": "sgd"}
    project = assert_split_is_whole(tmp_path, {**given, "embeddings.start_temperature": 0.01})
    from safetensors.torch import load_file

    scale = load_file(project / "runs/split/model.safetensors")["log_scale"]
    assert scale.shape == (1,) and 0 <= float(scale) <= 4.6052


MAKE_CLIP = """
from transformers import CLIPConfig, CLIPModel, CLIPTokenizer
import torch

torch.manual_seed(0)
texts = [text for part in data.load_rows(config) for _, text in part]
start, end = "<|startoftext|>", "<|endoftext|>"
tokenizer = CLIPTokenizer().train_new_from_iterator(texts, 300, show_progress=False)
tokenizer.save_pretrained("clip")
small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
small |= {"num_attention_heads": 2, "projection_dim": 16}
ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
words = {"vocab_size": len(tokenizer), "max_position_embeddings": 40, **ends, **small}
pixels = {"image_size": 16, "patch_size": 8, **small}
network = CLIPModel(CLIPConfig(text_config=words, vision_config=pixels, projection_dim=16))
network.save_pretrained("clip")
processor = {"image_processor_type": "CLIPImageProcessor", "image_mean": [0.4, 0.5, 0.6]}
with open("clip/preprocessor_config.json", "w") as file:
    json.dump({**processor, "image_std": [0.2, 0.3, 0.4], "size": {"shortest_edge": 16}}, file)
"""
CLIP = {"dataset": "digits", "model": "pretrained", "max_length": 40}


@pytest.mark.sweep
@pytest.mark.parametrize("lora", [False, True])
def test_a_pretrained_clip_is_fine_tuned(lora: bool, tmp_path: Path) -> None:
    """In 32 bits, on two processes, and no weight is without a gradient."""
    settings = {**CLIP, "clip_name": str(tmp_path / "clip"), "features.lora.enabled": lora}
    folder = project(tmp_path, **settings)
    succeed(call(folder, MAKE_CLIP))
    short = ["--epochs", "1", "--limit-batches", "4", "--batch-size", "4"]
    run(folder, "train.py", *short, processes=2)
    assert (folder / "runs/latest/adapter").is_dir() == lora
    assert len(json.loads(run(folder, "predict.py", "a handwritten seven"))["vector"]) == 16
    calls = [["--max-length", "41"], ["--pretrained-name", "nobody/nothing"]]
    messages = said(folder, "train.py", *calls)
    assert "takes at most 40 tokens: lower --max-length." in messages[0]
    assert "'nobody/nothing' can't be loaded" in messages[1]


CLIP_LOSS = """
import torch, torch.nn.functional as F
from transformers import CLIPModel

ours, theirs = model.build_model(config), CLIPModel.from_pretrained("clip")
with torch.no_grad():
    ours.log_scale.fill_(3.0), theirs.logit_scale.fill_(3.0)
pairs, losses, gradients = data.build_datasets(config)[0], [], []
# no image and no text twice: then there is no difference but the duplicates
for first in range(3):
    chosen = {}
    for place in range(first, len(pairs), 7):
        image, text = pairs.rows[place]
        if image not in [pairs.rows[other][0] for other in chosen.values()]:
            chosen.setdefault(text, place)
    batch = data.collate([pairs[place] for place in chosen.values()], config)
    images, tokens, mask, numbers = batch
    vectors = ours(images, tokens, mask)
    loss = train.compute_loss(vectors, numbers, vectors, numbers).mean()
    pixels = F.interpolate(images.expand(-1, 3, -1, -1), (16, 16), mode="bicubic")
    mean, std = (torch.tensor(x).reshape(3, 1, 1) for x in ([0.4, 0.5, 0.6], [0.2, 0.3, 0.4]))
    inputs = {"input_ids": tokens, "attention_mask": mask.long()}
    other = theirs(**inputs, pixel_values=(pixels - mean) / std, return_loss=True).loss
    losses.append([float(loss), float(other), len(chosen)])
    for network, value in ((ours, loss), (theirs, other)):
        network.zero_grad()
        value.backward()
    same = dict(theirs.named_parameters())
    scale = same.pop("logit_scale").grad
    gradients.append(float((ours.log_scale.grad - scale).abs().max()))
    for name, weight in same.items():
        gap = ours.get_parameter("model." + name).grad - weight.grad
        gradients.append(float(gap.abs().max()))
"""


@pytest.mark.sweep
def test_the_loss_is_that_of_clip(tmp_path: Path, proven) -> None:
    """The loss of CLIPModel, and its gradients, where no image and no text is twice in a batch."""
    folder = project(tmp_path, **CLIP, clip_name=str(tmp_path / "clip"))
    succeed(call(folder, MAKE_CLIP))
    losses, gradients = ask(folder, CLIP_LOSS, "[losses, gradients]")
    for ours, theirs, size in losses:
        assert size > 20 and ours == pytest.approx(theirs, abs=1e-5)
    assert max(gradients) < 1e-5
    proven("batches whose loss and gradients are those of CLIPModel", len(losses))


@pytest.mark.sweep
def test_an_exported_clip_is_one_of_transformers(tmp_path: Path) -> None:
    """CLIPModel.from_pretrained gives the vectors of predict.py, with the learned temperature."""
    settings = {**CLIP, "clip_name": str(tmp_path / "clip"), "features.export.enabled": True}
    folder = project(tmp_path, **settings)
    succeed(call(folder, MAKE_CLIP))
    text = "a handwritten seven"
    brief = ["--epochs", "1", "--limit-batches", "2", "--batch-size", "4"]
    exports = [["export.py", "--format", kind] for kind in ("onnx", "torch", "safetensors")]
    exports.append(["export.py", "--format", "transformers", "--output", "exported"])
    for command in (["train.py", *brief], *exports, ["predict.py", text]):
        printed = run(folder, *command)
    code = f"""
import torch
from safetensors.torch import load_file
from transformers import AutoTokenizer, CLIPModel
network = CLIPModel.from_pretrained("exported")
tokens = AutoTokenizer.from_pretrained("exported")([{text!r}], return_tensors="pt")
vector = torch.nn.functional.normalize(network.get_text_features(**tokens).pooler_output, dim=1)
scales = [float(load_file("runs/latest/model.safetensors")["log_scale"])]
scales += [float(network.logit_scale), float(CLIPModel.from_pretrained("clip").logit_scale)]
"""
    vector, scales = ask(folder, code, "[vector[0].tolist(), scales]")
    assert vector == pytest.approx(json.loads(printed)["vector"], abs=1e-5)
    assert scales[0] == pytest.approx(scales[1]) and scales[0] != scales[2]


# --- pretrained models --------------------------------------------------------------------------

WORDS = "[text for part in data.load_rows(config) for row in part for text in row]"


@pytest.mark.sweep
@pytest.mark.parametrize("name", ENCODERS)
def test_a_pretrained_model_is_fine_tuned(name: str, tmp_path: Path) -> None:
    """In 32 bits, on two processes, and no weight is without a gradient."""
    folder = project(tmp_path, **pretrained(name))
    make_encoders(folder, WORDS)
    assert_is_tuned(folder)
    assert len(json.loads(run(folder, "predict.py", "The doctor bought the car."))["vector"]) == 32


NOTE = """
collate = data.collate

def note(samples, config):
    seen.append([row for row, _ in samples])
    return collate(samples, config)
"""
RIVAL = """
from sentence_transformers import SentenceTransformer
from sentence_transformers.losses import MultipleNegativesRankingLoss
from sentence_transformers.models import Normalize, Pooling, Transformer

fresh = build(config).model
fresh.load_state_dict(torch.load("begin.pt"))
fresh.save_pretrained("begin")
data.build_tokenizer(config).save_pretrained("begin")
parts = Transformer("begin", max_seq_length=64), Pooling(32, pooling_mode="mean"), Normalize()
other = SentenceTransformer(modules=list(parts), device="cpu")
other.train()
criterion = MultipleNegativesRankingLoss(other, scale=1 / config.temperature)
optimizer = torch.optim.AdamW(other.parameters(), 1e-3, weight_decay=0.0)
theirs = []
for rows in seen[:10]:
    columns = [other.tokenize(list(column)) for column in zip(*rows, strict=True)]
    loss = criterion(columns, None)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(other.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    theirs.append(float(loss))
texts = ["The doctor bought the car.", "one", "A longer text. " * 50]
tokens, mask = data.tokenize(texts, config)
with torch.no_grad():
    vectors = torch.tensor(other.encode(texts)) - begin.cpu().eval()(tokens, mask)
worst = float(vectors.abs().max())
"""


with_rival = pytest.mark.skipif(
    find_spec("sentence_transformers") is None, reason="pip install sentence-transformers"
)


@pytest.mark.sweep
@with_rival
@pytest.mark.parametrize("texts", [2, 3])
def test_ten_steps_are_those_of_sentence_transformers(texts: int, tmp_path: Path, proven) -> None:
    """MultipleNegativesRankingLoss on the same batches, from the same weights, without dropout."""
    more = {"dataset": "files", "path": "rows.tsv", "text_columns": ",".join(NAMES[:texts])}
    folder = project(tmp_path, **pretrained("bert", **more), **PLAIN)
    rows = [(f"day {n}", f"{n % 7} or {n}", f"no {n}")[:texts] for n in range(120)]
    write_rows(folder / "rows.tsv", [NAMES[:texts], *rows])
    make_encoders(folder, WORDS)
    script = OURS.format(note=NOTE, collate="collate") + RIVAL
    ours, theirs, worst = ask(folder, script, "[ours, theirs, worst]")
    assert len(ours) == len(theirs) == 10 and ours[-1] < ours[0]
    assert ours == pytest.approx(theirs, abs=1e-5)
    assert worst < 1e-4, "the vectors of both, after ten steps"
    proven("steps that are those of sentence-transformers", 10)


@pytest.mark.sweep
@with_rival
def test_an_exported_model_is_one_of_sentence_transformers(tmp_path: Path) -> None:
    """It gives the vectors of predict.py."""
    folder = project(tmp_path, **pretrained("bert"), **{"features.export.enabled": True})
    make_encoders(folder, WORDS)
    text = "The doctor bought the car. " * 20
    export = ["export.py", "--format", "transformers", "--output", "exported"]
    brief = ["--epochs", "1", "--limit-batches", "2", "--batch-size", "4"]
    for command in (["train.py", *brief], export, ["predict.py", text]):
        printed = run(folder, *command)
    code = "from sentence_transformers import SentenceTransformer"
    vector = f"SentenceTransformer('exported', device='cpu').encode([{text!r}])[0].tolist()"
    assert ask(folder, code, vector) == pytest.approx(json.loads(printed)["vector"], abs=1e-5)
