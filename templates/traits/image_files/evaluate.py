from torch.utils.data import Dataset, Subset

#: slot functions
def find_paths(data: Dataset) -> list[str]:
    """The file of each image."""
    if isinstance(data, Subset):
        paths = find_paths(data.dataset)
        return [paths[row] for row in data.indices]
    return [str(path) for path in {{ task.image_paths }}]

#: slot files
paths = find_paths(build_datasets(config)[SPLITS.index(given.split)])
table["image"] = paths[: len(columns["loss"])]
