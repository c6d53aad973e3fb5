from pathlib import Path

#: slot build_datasets
def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data. A missing split is a tenth of the training images.

    Raises SystemExit for an invalid image or object, before training starts.
    """
    if not Path(config.path).is_dir():
        raise SystemExit(f"{config.path} is not a folder: set --path to the one with the images.")
    parts = {}
    # a fixed seed: another --seed must not move test images into the training data
    rng = torch.Generator().manual_seed(0)
    for name in ("train", "val", "test"):
        if path := find_part(config, name):
            rows = read_part(path, config)
            if not any(row.labels for row in rows):
                raise SystemExit(f"{path} has no images with objects.")
            parts[name] = MaskedImages(rows, config.image_size)
        elif len(parts["train"]) < 10:
            raise SystemExit(f"{config.path} has too few images to split: use 11, or add {name}/.")
        else:
            parts["train"], parts[name] = random_split(parts["train"], [0.9, 0.1], generator=rng)
    return list(parts.values())


def read_part(path: Path, config) -> list[Annotated]:
    """The images of a COCO file, each with its objects.

    Class 0 is the background. The categories follow, in the order of their ids.
    """
    names, rows = read_categories(path), read_images(path)
    if len(names) + 1 != config.classes:
        raise SystemExit(
            f"{path} has {len(names)} categories: set --classes to {len(names) + 1}, because the "
            "background is a class, too."
        )
    if names != read_categories(trained := find_part(config, "train")):
        raise SystemExit(f"{path} and {trained} have different categories.")
    labels = {key: label for label, key in enumerate(names, start=1)}
    for place, row in read_annotations(path, rows):
        image, [shape] = rows[row["image_id"]], read_values(row, ["segmentation"], place)
        image.labels.append(labels[row["category_id"]])
        image.masks.append(read_mask(shape, image, f"{place}, segmentation"))
    return list(rows.values())
