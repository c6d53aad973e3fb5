#: slot datasets
#: region keep_seen
def keep_seen(objects: Objects) -> Objects:
    """The objects of which a box and a mask are left."""
    boxes, masks = objects["boxes"], objects["masks"]
    seen = (boxes[:, :2] < boxes[:, 2:]).all(dim=1) & masks.flatten(1).any(dim=1)
    return {name: values[seen] for name, values in objects.items()}
#: end keep_seen
