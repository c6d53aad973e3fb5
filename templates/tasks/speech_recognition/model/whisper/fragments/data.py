from metrics import IGNORED
from model import build_tokenizer

#: slot prepare
def count_seconds(config) -> int:
    """The length of the window that the model hears, in seconds."""
    return load_extractor(config.pretrained_name).chunk_length


def prepare(sound: Tensor, config) -> Tensor:
    """The log-mel features of a sound, shape (mels, frames), as long as the window.

    A shorter sound is padded with silence, a longer one is cut.
    """
    extractor = load_extractor(config.pretrained_name)
    batch = extractor(sound.numpy(), sampling_rate=sample_rate(config), return_tensors="pt")
    return batch["input_features"][0]

#: slot samples
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

#: slot collate
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
