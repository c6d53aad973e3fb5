from torch.utils.data import Subset

#: slot datasets
class Probed(Dataset):
    """The images of a set, evenly mixed with the training images whose classes the probes know.

    A sample is an image, {{ task.drawn }}, its class, and whether it is known.
    """

    def __init__(self, new: Dataset, known: Dataset, config) -> None:
        self.parts, self.config = (new, known), config
        # a new image comes first, and any number of batches has about the same share of both
        self.order = sorted(
            (row / len(part), is_known, row)
            for is_known, part in zip((False, True), self.parts, strict=True)
            for row in range(len(part))
        )

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor | int, bool]:
        _, is_known, row = self.order[index]
        image, label = self.parts[is_known][row]
        return image, draw(image, self.config, row), label, is_known


def split_known(train_set: Dataset, config) -> tuple[Dataset, Dataset]:
    """Training images whose classes the probes know, and the other images: the same in each run."""
    # a fixed seed: the labeled images are the same for any --seed
    order = torch.randperm(len(train_set), generator=torch.Generator().manual_seed(0)).tolist()
    return Subset(train_set, order[: config.known]), Subset(train_set, order[config.known :])

#: replace evaluated
#: region known
known, _ = split_known(train_set, config)
#: end known
val_set, test_set = Probed(val_set, known, config), Probed(test_set, known, config)
