from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

#: slot list_letters
@cache
def list_letters(config) -> list[str]:
    """The letters of all texts, after the blank and the space. The id of a letter is its index."""
    used = {letter for part in load_rows(config) for row in part for letter in row.text}
    #: slot known_letters
    return ["", " ", *sorted(used - {" "})]

#: slot samples
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

#: slot collate
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

#: slot train_batches
collate_fn=collate,

#: replace eval_loaders
val_loader = DataLoader(val_set, collate_fn=collate, **settings)
test_loader = DataLoader(test_set, collate_fn=collate, **settings)

#: slot long_text when sound_columns=given
frames = count_frames(round(seconds * sample_rate(config)), config)
needed = len(text) + sum(one == other for one, other in pairwise(text))  # a blank between them
if frames < needed:
    raise SystemExit(
        f"{place}: {seconds:.2f} seconds of sound are {frames} frames, and a text of "
        f"{len(text)} letters needs {needed}. Correct the text, or leave the row out."
    )
