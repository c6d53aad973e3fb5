import json

from torch import Tensor
from torch.utils.data import DataLoader, default_collate

from audio import read_sound
from data import prepare, sample_rate

#: slot functions
def load_sound(path: Path, config: Config) -> tuple[Tensor, int]:
    """The model input of a file."""
    try:
        return prepare(read_sound(path, sample_rate(config)), config)
    except OSError as error:
        raise SystemExit(str(error)) from error

#: slot before_batches
names = json.loads((config.output_dir / "classes.json").read_text())

#: slot batches
for paths in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    sounds, lengths = default_collate([load_sound(path, config) for path in paths])
    probabilities = model(sounds.to(device), lengths.to(device)).cpu().double().softmax(dim=1)
    for probs in probabilities.tolist():
        prob_of = dict(zip(names, probs, strict=True))
        row = {"label": max(prob_of, key=prob_of.get)}
        rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})

#: into model.py with predict
#: slot parameters
, names: list[str] | None = None

#: replace names
names = names or class_names(config)  # those of a run, so that no data is needed
