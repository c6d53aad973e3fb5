import torch.nn.functional as F

#: slot scene_targets
targets = (F.one_hot(labels[chosen], 10) * shown[:, :, None]).amax(dim=1).float()

#: slot build_datasets
def class_names(config) -> list[str]:
    """The names of the labels, in the order of the model's outputs."""
    return [str(digit) for digit in range(10)]
