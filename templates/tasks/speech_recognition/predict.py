import json
import sys

from torch import Tensor
from torch.utils.data import DataLoader

from audio import read_sound
from data import count_seconds, pad, prepare, sample_rate
from metrics import read_letters

#: slot built when model=ctc|pretrained
, json.loads((config.output_dir / "letters.json").read_text())

#: slot before_batches when model=ctc|pretrained
letters = json.loads((config.output_dir / "letters.json").read_text())

#: slot batches when model=ctc|pretrained
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    sounds, lengths = pad([load_sound(path, config) for path in paths])
    for numbers in read_letters(model(sounds.to(device), lengths.to(device))):
        rows.append({"text": "".join(letters[number] for number in numbers)})

#: slot functions when model=ctc|pretrained
def load_sound(path: Path, config: Config) -> Tensor:
    """The model input of a file."""
    try:
        return prepare(read_sound(path, sample_rate(config)), config)
    except OSError as error:
        raise SystemExit(str(error)) from error

#: slot functions when model=whisper
def load_sound(path: Path, config: Config) -> Tensor:
    """The model input of a file."""
    try:
        sound = read_sound(path, sample_rate(config))
        seconds, window = len(sound) / sample_rate(config), count_seconds(config)
        if seconds > window:
            print(f"{path}: {seconds:.1f} seconds are cut to {window}", file=sys.stderr)
        return prepare(sound, config)
    except OSError as error:
        raise SystemExit(str(error)) from error

#: slot batches when model=whisper
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    sounds = torch.stack([load_sound(path, config) for path in paths])
    rows += [{"text": text} for text in model.write(sounds.to(device))]
