#: when project.task=dpo|reward_model
import torch
from torch.utils.data import random_split

from lib.hub import load_splits
from lib.json_lines import drop_nulls
from lib.pairs import load_file, read_pairs, write_pairs

#: slot train_batches
collate_fn=collate,

#: replace eval_loaders
val_loader = DataLoader(val_set, collate_fn=collate, **settings)
test_loader = DataLoader(test_set, collate_fn=collate, **settings)

#: slot split when dataset=rules
# a fixed seed: another --seed must not move test samples into the training data
split = torch.Generator().manual_seed(0)
return random_split(Pairs(write_pairs(), config{{ task.reference }}), [0.8, 0.1, 0.1], generator=split)

#: slot split when dataset=jsonl
files = [config.val_path, config.test_path]
shares = [0.0 if path else 0.1 for path in files]
samples = Pairs(load_file(config.path, config), config{{ task.reference }})
if len(samples) < 10 and sum(shares):
    raise SystemExit(
        f"{config.path} has {len(samples)} pairs with two different answers within --context "
        f"{config.context}: a split needs at least 10."
    )
# a fixed seed: another --seed must not move test samples into the training data
rng = torch.Generator().manual_seed(0)
parts = random_split(samples, [1 - sum(shares), *shares], generator=rng)
# a split with its own file gets no share of the rows
return [
    Pairs(load_file(path, config), config{{ task.reference }}) if path else part
    for path, part in zip(["", *files], parts, strict=True)
]

#: slot split when dataset=huggingface
splits, found = load_splits(config), {}
for name in ("train", "validation", "test"):
    rows = [
        (f"{config.dataset_name}, row {number} of {name}", drop_nulls(row))
        for number, row in enumerate(splits.get(name) or (), start=1)
    ]
    source = f"{config.dataset_name}, {name}"
    found[name] = Pairs(read_pairs(rows, source, config), config{{ task.reference }}) if rows else None
samples, *apart = found.values()
shares = [0.0 if part else 0.1 for part in apart]
if len(samples) < 10 and sum(shares):
    raise SystemExit(
        f"{config.dataset_name} has {len(samples)} pairs with two different answers within "
        f"--context {config.context}: a split needs at least 10."
    )
# a fixed seed: another --seed must not move test samples into the training data
rng = torch.Generator().manual_seed(0)
parts = random_split(samples, [1 - sum(shares), *shares], generator=rng)
# a split that the dataset has gets no share of the rows
return [own or part for own, part in zip([None, *apart], parts, strict=True)]
