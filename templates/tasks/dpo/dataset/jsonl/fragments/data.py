from torch.utils.data import random_split

#: slot read_pairs
def read_pairs(path: str) -> list[Pair]:
    """The pairs of a file: a JSON object in each line."""
    if not (pairs := [read_pair(row, place) for place, row in read_objects(path)]):
        raise SystemExit(f"{path} has no pairs.")
    return pairs

#: slot split
files = [config.val_path, config.test_path]
shares = [0.0 if path else 0.1 for path in files]
samples = Pairs(read_pairs(config.path), config, reference)
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
    Pairs(read_pairs(path), config, reference) if path else part
    for path, part in zip(["", *files], parts, strict=True)
]
