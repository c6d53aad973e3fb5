#: file
"""The data: {{ task.inputs_shape }},
{{ task.texts_shape }}
{{ task.sizes_shape }}

{{ task.padding }}
"""

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset


class Row(NamedTuple):
    """A sound and its text."""

    #: slot sound
    text: str
    #: slot row


#: slot load_splits


#: slot load_rows


#: slot read_rows


#: slot row_readers


#: slot check_row


#: slot load_sound


#: slot split_rows


#: slot letters


#: slot list_letters


#: slot prepare


#: slot samples


def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data."""
    parts = load_rows(config)
    #: slot left_out
    return [Sounds(part, config) for part in parts]


#: slot collate


#: slot datasets


#: slot build_loaders
#: end file

import unicodedata
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from itertools import pairwise
from math import pi
from pathlib import Path
from random import Random

import torch
import torch.nn.functional as F
from datasets import Audio
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset
from transformers import AutoConfig, AutoTokenizer, PreTrainedConfig


from audio import measure_sound, read_sound
from lib.extractors import load_extractor
from lib.hub import load_splits
from lib.json_lines import holds_objects, read_objects
from lib.notes import note_ignored
from lib.names import check_once
from lib.rows import check_row
from lib.sounds import log_mel, normalize
from lib.tables import read_table
from metrics import IGNORED
from model import build_tokenizer

#: slot list_letters when model=ctc|pretrained
@cache
def list_letters(config) -> list[str]:
    """The letters of all texts, after the blank and the space. The id of a letter is its index."""
    used = {letter for part in load_rows(config) for row in part for letter in row.text}
    #: slot known_letters
    return ["", " ", *sorted(used - {" "})]

#: slot samples when model=ctc|pretrained
class Sounds(Dataset):
    """The model input of each sound, and its text as letter ids."""

    def __init__(self, rows: list[Row], config) -> None:
        self.rows, self.config = rows, config
        self.numbers = {letter: number for number, letter in enumerate(list_letters(config))}

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        row = self.rows[index]
        sound = load_sound(row, sample_rate(self.config))
        text = torch.tensor([self.numbers[letter] for letter in row.text], dtype=torch.long)
        return prepare(sound, self.config), text

#: slot collate when model=ctc|pretrained
def pad(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Rows padded to the longest, and their true lengths."""
    lengths = torch.tensor([len(row) for row in rows])
    #: region padded
    return pad_sequence(list(rows), batch_first=True), lengths
    #: end padded


def collate(samples: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A batch of sounds and texts, each padded to the longest."""
    sounds, texts = zip(*samples, strict=True)
    return *pad(sounds), *pad(texts)

#: slot train_batches when model=ctc|pretrained
collate_fn=collate,

#: replace eval_loaders when model=ctc|pretrained
val_loader = DataLoader(val_set, collate_fn=collate, **settings)
test_loader = DataLoader(test_set, collate_fn=collate, **settings)

#: slot long_text when model=ctc|pretrained sound_columns=given
frames = count_frames(round(seconds * sample_rate(config)), config)
needed = len(text) + sum(one == other for one, other in pairwise(text))  # a blank between them
if frames < needed:
    raise SystemExit(
        f"{place}: {seconds:.2f} seconds of sound are {frames} frames, and a text of "
        f"{len(text)} letters needs {needed}. Correct the text, or leave the row out."
    )

#: replace few
f"{source}: {len(rows)} sounds can't be split into training, validation and test: use "
"10 or more."

#: slot load_rows when dataset=tones
LETTERS = "abcdefghijklmnop"


@cache
def load_rows(config) -> list[list[Row]]:
    """1,500 texts of one to three words, each with the seed of its sound, in three splits."""
    rng = Random(0)
    rows = []
    for seed in range(1500):
        sizes = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
        words = ["".join(rng.choices(LETTERS, k=size)) for size in sizes]
        rows.append(Row(seed, " ".join(words)))
    return split_rows(rows, [0.8, 0.1, 0.1])

#: slot load_sound when dataset=tones
def load_sound(row: Row, rate: int) -> Tensor:
    """A tone for each letter, and silence between words, on background noise: shape (samples,).

    A letter is three semitones above the one before it. Its length, loudness and pitch vary.
    """
    rng, parts = Random(row.sound), []
    for letter in row.text:
        time = torch.arange(int(rng.uniform(0.06, 0.12) * rate)) / rate
        if letter != " ":
            pitch = 350 * 2 ** (LETTERS.index(letter) / 4 + rng.uniform(-0.03, 0.03))
            swell = (pi * time / time[-1]).sin()  # an abrupt start would be a click
            parts.append(rng.uniform(0.2, 0.8) * swell * (2 * pi * pitch * time).sin())
        parts.append(torch.zeros_like(time) if letter == " " else time[: len(time) // 4] * 0)
    sound = torch.cat(parts)
    noise = torch.randn(len(sound), generator=torch.Generator().manual_seed(row.sound))
    return sound + rng.uniform(0.01, 0.1) * noise

#: slot load_rows when dataset=files
@cache
def load_rows(config) -> list[list[Row]]:
    """Rows for training, validation and test. A split without a file is a tenth of `path`."""
    paths = [config.path, config.val_path, config.test_path]
    found = [read_rows(path, config) if path else [] for path in paths]
    check_once(
        (f"{path}, row {number}", row.sound)
        for path, rows in zip(paths, found, strict=True)
        for number, row in enumerate(rows, start=1)
    )
    shares = [0.0 if path else 0.1 for path in paths[1:]]
    parts = split_rows(found[0], [1 - sum(shares), *shares], config.path)
    return [rows or part for rows, part in zip([[], *found[1:]], parts, strict=True)]

#: slot read_rows when dataset=files
def read_rows(path: str, config) -> list[Row]:
    """The sound and the text of each row of a file."""
    columns = config.sound_columns.split(",")
    found = list(read_objects(path) if holds_objects(path) else read_table(path))
    settings = columns, Path(path).parent, config
    rows = [check_sound(row, place, *settings) for place, row in found]
    if not rows:
        raise SystemExit(f"{path} has no rows.")
    note_ignored(path, (name for _, row in found for name in row), columns)
    return rows

#: slot check_row when dataset=files
def check_sound(row, place: str, columns: list[str], folder: Path, config) -> Row:
    """A row whose sound is in this folder or below. `place` is for error messages."""
    if len(columns) != 2:
        raise SystemExit("--sound-columns needs the names of two columns, as in file,text.")
    name, text = check_row(row, columns, place, "--sound-columns")
    sound, clip = folder / name, folder / "clips" / name
    if clip.is_file() and not sound.exists():  # Common Voice leaves the folder out
        sound = clip
    try:
        seconds = measure_sound(sound)
    except OSError as error:
        raise SystemExit(f"{place}: {error}") from error
    return Row(sound, check_text(text, seconds, place, config), seconds)

#: slot load_sound when dataset=files
def load_sound(row: Row, rate: int) -> Tensor:
    """The sound of a row, shape (samples,), from -1 to 1."""
    return read_sound(row.sound, rate)

#: slot load_rows when dataset=huggingface
@cache
def load_rows(config) -> list[list[Row]]:
    """The splits train, validation and test of a Hugging Face dataset.

    A missing split is replaced by a tenth of the training data.
    """
    name, columns = config.dataset_name, config.sound_columns.split(",")
    dataset = load_splits(config)
    for column in columns:
        if column not in dataset["train"].features:
            known = ", ".join(dataset["train"].features)
            raise SystemExit(
                f"{name!r} has no column {column!r}, only {known}. Set --sound-columns."
            )
    dataset = dataset.cast_column(columns[0], Audio(decode=False))
    parts = {}
    for part in ("train", "validation", "test"):
        rows = dataset.get(part, [])
        parts[part] = [
            check_sound(rows, number, f"{name}, {part}, row {number + 1}", columns, config)
            for number in range(len(rows))
        ]
    for part in ("validation", "test"):
        if not parts[part]:
            parts["train"], parts[part] = split_rows(parts["train"], [0.9, 0.1], name)
    return list(parts.values())

#: slot check_row when dataset=huggingface
def check_sound(rows, number: int, place: str, columns: list[str], config) -> Row:
    """A row of the dataset. `place` is for error messages."""
    if len(columns) != 2:
        raise SystemExit("--sound-columns needs the names of two columns, as in file,text.")
    [text] = check_row(rows[number], columns[1:], place, "--sound-columns")
    sound = rows, number, columns[0]
    try:
        seconds = measure_sound(open_sound(*sound))
    except OSError as error:
        reason = str(error).partition("can't be read: ")[2] or error
        raise SystemExit(f"{place}: its sound can't be read: {reason}") from error
    return Row(sound, check_text(text, seconds, place, config), seconds)


def open_sound(rows, number: int, column: str) -> BytesIO:
    """The bytes of a sound, which are in the dataset or in a file of it."""
    cell = rows[number][column]
    return BytesIO(cell["bytes"] or Path(cell["path"]).read_bytes())

#: slot load_sound when dataset=huggingface
def load_sound(row: Row, rate: int) -> Tensor:
    """The sound of a row, shape (samples,), from -1 to 1."""
    return read_sound(open_sound(*row.sound), rate)

#: slot sound when dataset=tones
sound: int  # a seed, from which the sound is generated

#: slot sound when dataset=files
sound: Path

#: slot sound when dataset=huggingface
sound: tuple  # a split of the dataset, a row index, and a column

#: slot row when sound_columns=given
seconds: float

#: slot check_row when sound_columns=given
def check_text(text: str, seconds: float, place: str, config) -> str:
    """The text of a sound, with one space between words. `place` is for error messages."""
    text = unicodedata.normalize("NFC", text)  # a letter and its accent are one character
    #: slot changed
    text = "".join(letter for letter in text if letter not in config.ignored)
    if not (text := " ".join(text.split())):
        raise SystemExit(f"{place}: its text is empty without the characters in --ignored.")
    #: slot long_text
    return text

#: slot left_out when sound_columns=given
parts = [[row for row in parts[0] if row.seconds <= config.seconds], *parts[1:]]
if not parts[0]:
    raise SystemExit(
        f"{{ task.source }}: all training sounds are longer than --seconds: raise it."
    )

#: slot changed when case=lower
text = text.lower()

#: slot changed when case=upper
text = text.upper()

#: slot prepare when model=ctc
def prepare(sound: Tensor, config) -> Tensor:
    """The spectrogram of a sound, shape (frames, mels)."""
    return normalize(log_mel(sound, config.sample_rate, config.mels))


def sample_rate(config) -> int:
    """The sampling rate that prepare() expects, in Hz."""
    return config.sample_rate


#: region count_frames
def count_frames(samples: int, config) -> int:
    """The number of frames that the model outputs for this many samples: one per 20 ms."""
    return (samples // round(0.01 * config.sample_rate) + 2) // 2
#: end count_frames

#: slot letters when model=pretrained
# models that can mask padding
KINDS = ("hubert", "sew", "unispeech", "unispeech-sat", "wav2vec2", "wavlm")


@cache
def load_settings(name: str) -> PreTrainedConfig:
    """The configuration of a pretrained model."""
    try:
        settings = AutoConfig.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
    if settings.model_type not in KINDS or getattr(settings, "add_adapter", False):
        raise SystemExit(
            f"{name!r} is a {settings.model_type} model. Choose one of {', '.join(KINDS)}, "
            "without an adapter layer."
        )
    return settings


@cache
def read_vocabulary(name: str) -> tuple[list[str], list[int]]:
    """The letters of a pretrained model, after the blank and the space, and their places.

    Both are empty if it was not trained to transcribe. Special tokens, such as <s>, are left out.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, TypeError, ValueError):  # it has none
        return [], []
    numbers, space = tokenizer.get_vocab(), getattr(tokenizer, "word_delimiter_token", None)
    if space not in numbers:
        return [], []
    size, others = load_settings(name).vocab_size, {space, *tokenizer.all_special_tokens}
    letters = {n: text for text, n in numbers.items() if n < size and text not in others}
    places = sorted(letters)
    first = [tokenizer.pad_token_id, numbers[space]]
    return ["", " ", *(letters[place] for place in places)], [*first, *places]

#: slot known_letters when model=pretrained
known, _ = read_vocabulary(config.pretrained_name)
if used <= set(known):
    return known

#: slot prepare when model=pretrained|whisper
def sample_rate(config) -> int:
    """The sampling rate that prepare() expects, in Hz."""
    return load_extractor(config.pretrained_name).sampling_rate

#: slot prepare when model=pretrained
def count_frames(samples, config):
    """The number of frames that the model outputs for a number of samples, or a tensor of them."""
    settings = load_settings(config.pretrained_name)
    for kernel, stride in zip(settings.conv_kernel, settings.conv_stride, strict=True):
        samples = (samples - kernel) // stride + 1
    return samples


def count_samples(config) -> int:
    """The minimum number of samples for one frame."""
    settings, samples = load_settings(config.pretrained_name), 1
    sizes = zip(settings.conv_kernel, settings.conv_stride, strict=True)
    for kernel, stride in reversed(list(sizes)):
        samples = (samples - 1) * stride + kernel
    return samples


def prepare(sound: Tensor, config) -> Tensor:
    """The model input of a sound, shape (samples,)."""
    extractor = load_extractor(config.pretrained_name)
    sound = F.pad(sound, (0, max(0, count_samples(config) - len(sound))))
    batch = extractor(sound.numpy(), sampling_rate=sample_rate(config), return_tensors="pt")
    return batch[extractor.model_input_names[0]][0]

#: slot prepare when model=whisper
#: region count_seconds
def count_seconds(config) -> int:
    """The length of the window that the model hears, in seconds."""
    return load_extractor(config.pretrained_name).chunk_length
#: end count_seconds


def prepare(sound: Tensor, config) -> Tensor:
    """The log-mel features of a sound, shape (mels, frames), as long as the window.

    A shorter sound is padded with silence, a longer one is cut.
    """
    extractor = load_extractor(config.pretrained_name)
    batch = extractor(sound.numpy(), sampling_rate=sample_rate(config), return_tensors="pt")
    return batch["input_features"][0]

#: slot samples when model=whisper
class Sounds(Dataset):
    """The features of each sound, and the inputs and targets of the decoder for its text."""

    def __init__(self, rows: list[Row], config) -> None:
        self.rows, self.config = rows, config
        self.texts = build_tokenizer(config).encode([row.text for row in rows])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor]:
        sound = load_sound(self.rows[index], sample_rate(self.config))
        return prepare(sound, self.config), *self.texts[index]

#: slot collate when model=whisper
def collate(samples: list[tuple[Tensor, Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of features, inputs and targets. Texts are padded to the longest."""
    sounds, inputs, targets = zip(*samples, strict=True)
    #: region padded
    # no token sees a later one, so any token can pad the inputs
    return (
        torch.stack(sounds),
        pad_sequence(inputs, batch_first=True),
        pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    )
    #: end padded

#: slot datasets when model=whisper with tpu
def pad(rows: tuple[Tensor, ...], value: int) -> Tensor:
    """Rows padded to a multiple of 32, because XLA recompiles the step for each new length."""
    padded = pad_sequence(rows, batch_first=True, padding_value=value)
    return F.pad(padded, (0, -padded.shape[1] % 32), value=value)

#: replace padded when model=whisper with tpu
# no token sees a later one, so any token can pad the inputs
return torch.stack(sounds), pad(inputs, 0), pad(targets, IGNORED)

#: slot long_text when model=whisper sound_columns=given
if len(text.encode()) >= config.max_tokens:  # a token has at least one byte
    tokens = build_tokenizer(config).count(text)
    if tokens > config.max_tokens:
        raise SystemExit(
            f"{place}: its text has {tokens} tokens, and --max-tokens is {config.max_tokens}. "
            "Raise it, split the sound, or leave the row out."
        )

#: slot left_out when model=whisper sound_columns=given
build_tokenizer(config)  # which refuses models of other kinds
if config.seconds > count_seconds(config):
    raise SystemExit(
        f"--seconds {config.seconds:g}: {config.pretrained_name!r} hears "
        f"{count_seconds(config)} seconds: lower it."
    )

#: replace padded when model=ctc|pretrained with tpu
padded = pad_sequence(list(rows), batch_first=True)
size = 1 << (padded.shape[1] - 1).bit_length()  # few sizes: XLA compiles the step for each new one
more = padded.new_zeros(len(rows), size - padded.shape[1], *padded.shape[2:])
return torch.cat([padded, more], dim=1), lengths

#: replace count_frames when dataset=tones model=ctc project.loop=minimal

#: replace count_seconds when dataset=tones model=whisper project.loop=minimal
