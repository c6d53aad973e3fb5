from PIL import Image

#: slot build_datasets
def check_mask(
    image: Image.Image, mask: Image.Image, image_name: str, mask_name: str, config
) -> set[int]:
    """The classes in a mask. Raises SystemExit for a mask that does not fit its image."""
    if mask.mode not in ("L", "P", "1"):
        raise SystemExit(f"{mask_name} is not an 8-bit grayscale or palette image: {mask.mode}.")
    if mask.size != image.size:
        raise SystemExit(f"{mask_name} does not have the size of {image_name}.")
    classes = {*np.unique(np.array(mask)).tolist()} - {VOID}
    if wrong := classes - {*range(config.classes)}:
        raise SystemExit(
            f"{mask_name} has the class {min(wrong)}. Classes are from 0 to {config.classes - 1} "
            f"(--classes), and {VOID} is ignored."
        )
    return classes


def check_classes(found: list[set[int]], name: str, training: bool) -> None:
    """Raises SystemExit for a split whose masks have no class or, for training, only one."""
    classes = set().union(*found)
    if not classes:
        raise SystemExit(f"{name} has no image with a class.")
    if training and len(classes) == 1:
        raise SystemExit(
            f"{name} has one class, {min(classes)} ({VOID} is ignored): a model needs two to tell "
            "apart."
        )
