from os.path import isdir, isfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps
from torch import Tensor
from torch.utils.data import DataLoader

from data import SIZE, read_image, tokenize
from lib.images import FORMATS

#: slot functions
def read_corpus(config: Config, name: str) -> list[str]:
    #: region corpus without image_texts
    """The lines of a .txt file, to search."""
    if not name.endswith(".txt"):
        raise SystemExit(f"--search takes a .txt file with a text in each line, not {name!r}.")
    if not (texts := read_inputs(config, [name])):
        raise SystemExit(f"{name} has no lines.")
    #: end corpus
    #: region corpus_of_images with image_texts
    """The images of a folder or the lines of a .txt file, to search."""
    if not name.endswith(".txt") and not isdir(name):
        raise SystemExit(f"--search takes a folder of images or a .txt file, not {name!r}.")
    if not (texts := read_inputs(config, [name])):
        raise SystemExit(f"{name} has no images or lines.")
    #: end corpus_of_images
    return texts


def search(queries: list[dict], corpus: list[dict], count: int) -> list[dict]:
    """The `count` closest rows of the corpus for each query, best first, with their cosines.

    Both arguments are rows of predict().
    """
    ours, others = (torch.tensor([row["vector"] for row in rows]) for rows in (queries, corpus))
    best, places = (ours @ others.T).topk(min(count, len(corpus)))
    rows = []
    for query, cosines, found in zip(queries, best.tolist(), places.tolist(), strict=True):
        #: region found without image_texts
        pairs = zip(found, cosines, strict=True)
        found = [{"text": corpus[place]["text"], "similarity": cosine} for place, cosine in pairs]
        rows.append({"text": query["text"], "found": found})
        #: end found
        #: region found_of_images with image_texts
        close = [
            {**without_vector(corpus[place]), "similarity": cosine}
            for place, cosine in zip(found, cosines, strict=True)
        ]
        rows.append({**without_vector(query), "found": close})
        #: end found_of_images
    return rows

#: slot arguments
ways = parser.add_mutually_exclusive_group()  # output: JSON lines by default, or one of these
#: region search without image_texts
ways.add_argument("--npy", help="write the vectors to this .npy file, a row for each text")
ways.add_argument("--search", help="print the closest lines of this .txt file")
parser.add_argument("--count", type=int, default=5, help="number of results for --search")
#: end search
#: region search_of_images with image_texts
ways.add_argument("--npy", help="write the vectors to this .npy file, a row for each input")
ways.add_argument("--search", help="print the closest images of a folder, or lines of a .txt file")
parser.add_argument("--count", type=int, default=5, help="number of results for --search")
#: end search_of_images

#: replace call
rows = predict(config, model, inputs)
if arguments.search:
    corpus = predict(config, model, read_corpus(config, arguments.search))
    rows = search(rows, corpus, max(1, arguments.count))

#: slot batches without image_texts
for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    vectors = model(*(part.to(device) for part in tokenize(texts, config)))
    pairs = zip(texts, vectors.tolist(), strict=True)
    rows += [{"text": text, "vector": vector} for text, vector in pairs]

#: replace described with image_texts
"""Texts, lines of .txt files or of standard input (-), and the names of images in folders."""

#: slot files with image_texts
elif isdir(name):
    texts += sorted(str(path) for path in Path(name).rglob("*") if is_image(str(path)))

#: replace other_files with image_texts
elif isfile(name) and not is_image(name):
    raise SystemExit(f"{name} is not read: name an image, or a .txt file with a text in each line.")

#: slot functions with image_texts
def is_image(name: str) -> bool:
    """Whether an input is the name of an image, and not a text."""
    return Image.registered_extensions().get(Path(name).suffix.lower()) in Image.OPEN


def embed(config: Config, model: torch.nn.Module, device, names: list[str]) -> list[dict]:
    """A row for each input: the name of the image or the text, and the vector."""
    found = {}
    if images := [name for name in names if is_image(name)]:
        pixels = torch.stack([read_picture(Path(name), config) for name in images])
        found |= zip(images, model.embed_images(pixels.to(device)).tolist(), strict=True)
    if texts := [name for name in names if not is_image(name)]:
        tokens, mask = (part.to(device) for part in tokenize(texts, config))
        found |= zip(texts, model.embed_texts(tokens, mask).tolist(), strict=True)
    return [{"image" if is_image(name) else "text": name, "vector": found[name]} for name in names]


def without_vector(row: dict) -> dict:
    """The image or the text of a row."""
    return {name: value for name, value in row.items() if name != "vector"}

#: slot batches with image_texts
for names in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    rows += embed(config, model, device, names)

#: replace inputs with image_texts
kinds = "a text, an image, a folder of images, a .txt file of lines, or -"
parser.add_argument("inputs", nargs="+", metavar="INPUT", help=kinds)

#: slot functions when dataset=digits with image_texts
def read_picture(path: Path, config: Config) -> Tensor:
    """A digit, white on black, shape (1, 8, 8), from 0 to 1."""
    try:
        image = ImageOps.fit(Image.open(path, formats=FORMATS).convert("L"), (SIZE, SIZE))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.from_numpy(np.array(image)).unsqueeze(0) / 255

#: slot functions when dataset=images|hub_images
def read_picture(path: Path, config: Config) -> Tensor:
    """An image as the model takes it, shape (3, size, size)."""
    try:
        return read_image(path, config)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
