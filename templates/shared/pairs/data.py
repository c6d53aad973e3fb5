#: when project.task=dpo|reward_model
import torch
from torch.utils.data import random_split

from lib.hub import load_splits
from lib.json_lines import drop_nulls
from lib.pairs import load_file, read_pairs, write_pairs
from lib.splits import complete_groups

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
samples, *apart = (
    Pairs(load_file(path, config), config{{ task.reference }}) if path else None
    for path in (config.path, config.val_path, config.test_path)
)
few = (
    f"{config.path} has {len(set(samples.prompts))} prompts with two different answers within "
    f"--context {config.context}: a split needs at least 10."
)
return complete_groups(samples, samples.prompts, apart, few)

#: slot split when dataset=huggingface
splits, found = load_splits(config), []
for name in ("train", "validation", "test"):
    rows = [
        (f"{config.dataset_name}, row {number} of {name}", drop_nulls(row))
        for number, row in enumerate(splits.get(name) or (), start=1)
    ]
    source = f"{config.dataset_name}, {name}"
    found.append(Pairs(read_pairs(rows, source, config), config{{ task.reference }}) if rows else None)
prompts = found[0].prompts
few = (
    f"{config.dataset_name} has {len(set(prompts))} prompts with two different answers within "
    f"--context {config.context}: a split needs at least 10."
)
return complete_groups(found[0], prompts, found[1:], few)
