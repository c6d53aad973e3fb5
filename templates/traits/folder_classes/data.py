#: replace parts when dataset=image_folder
#: region classes
classes = find_classes(paths)
#: end classes
parts = {name: LabelledFiles(paths[name], config.image_size, classes) for name in paths}

#: slot datasets when dataset=image_folder
class LabelledFiles(ImageFiles):
    """Images with their class indices: the index of the folder among the names."""

    def __init__(self, paths: list[Path], size: int, classes: list[str]) -> None:
        super().__init__(paths, size)
        self.classes = classes

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return super().__getitem__(index), self.classes.index(self.paths[index].parent.name)


def find_classes(paths: dict[str, list[Path]]) -> list[str]:
    """The names of the folders that the training images are in, one for each class."""
    classes = sorted({path.parent.name for path in paths["train"]})
    if len(classes) < 2:
        raise SystemExit(f"All training images are in the folder {classes[0]}: use two, or more.")
    for path in [*paths["val"], *paths["test"]]:
        if path.parent.name not in classes:
            raise SystemExit(f"{path} has a class without training images: {path.parent.name}.")
    return classes
