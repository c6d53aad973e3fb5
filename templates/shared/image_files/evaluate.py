#: when project.task=image_classification|semantic_segmentation|object_detection dataset=image_folder|folder|coco|yolo|voc
from torch.utils.data import Dataset, Subset

#: slot functions
def find_paths(data: Dataset) -> list[str]:
    """The file of each image."""
    if isinstance(data, Subset):
        paths = find_paths(data.dataset)
        return [paths[row] for row in data.indices]
    #: region paths
    return [str(row.image) for row in data.rows]
    #: end paths

#: slot files
paths = find_paths(build_datasets(config)[SPLITS.index(given.split)])
table["image"] = paths[: len(columns["loss"])]

#: replace paths when dataset=image_folder
return [str(path) for path, _ in data.samples]

#: replace paths when dataset=folder
return [str(image) for image, _ in data.pairs]
