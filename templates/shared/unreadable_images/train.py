#: when dataset=image_folder|huggingface|csv|coco|yolo|voc
from lib.images import UnreadableImage

#: wrap start when project.task=semantic_segmentation|object_detection|image_classification|autoencoder|diffusion|gan|self_supervised
try:
    ...  #: body
except UnreadableImage as error:  # a data worker puts its traceback above
    raise SystemExit(str(error).rpartition("UnreadableImage: ")[2].strip()) from None
