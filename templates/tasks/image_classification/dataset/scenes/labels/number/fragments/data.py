#: slot scene_targets
targets = (labels[chosen] * shown).sum(dim=1).float()

#: slot build_datasets
def read_targets(config) -> Tensor:
    """The numbers of the training data."""
    return build_datasets(config)[0].tensors[1]
