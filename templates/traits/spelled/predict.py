import json

from torch.utils.data import DataLoader

from data import pad
from metrics import read_letters

#: replace build
letters = json.loads((config.output_dir / "letters.json").read_text())
model = build_model(config, letters)

#: slot before_batches
letters = json.loads((config.output_dir / "letters.json").read_text())

#: slot batches
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    sounds, lengths = pad([load_sound(path, config) for path in paths])
    for numbers in read_letters(model(sounds.to(device), lengths.to(device))):
        rows.append({"text": "".join(letters[number] for number in numbers)})
