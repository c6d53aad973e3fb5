import json
import sys

from torch.utils.data import DataLoader

from data import count_seconds, pad
from metrics import read_letters

#: replace build when model=ctc|pretrained
letters = json.loads((config.output_dir / "letters.json").read_text())
model = build_model(config, letters)

#: slot before_batches when model=ctc|pretrained
letters = json.loads((config.output_dir / "letters.json").read_text())

#: slot batches when model=ctc|pretrained
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    sounds, lengths = pad([load_sound(path, config) for path in paths])
    for numbers in read_letters(model(sounds.to(device), lengths.to(device))):
        rows.append({"text": "".join(letters[number] for number in numbers)})

#: replace prepared when model=whisper
sound = read_sound(path, sample_rate(config))
seconds, window = len(sound) / sample_rate(config), count_seconds(config)
if seconds > window:
    print(f"{path}: {seconds:.1f} seconds are cut to {window}", file=sys.stderr)
return prepare(sound, config)

#: slot batches when model=whisper
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    sounds = torch.stack([load_sound(path, config) for path in paths])
    rows += [{"text": text} for text in model.write(sounds.to(device))]
