#: slot scene_targets
targets = (labels[chosen] * shown).sum(dim=1).float()

#: slot build_datasets
def read_targets(config) -> Tensor:
    """The numbers of the training data."""
    return torch.stack([target for _, target in build_datasets(config)[0]])
