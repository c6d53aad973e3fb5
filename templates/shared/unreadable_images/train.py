#: when project.task=autoencoder|diffusion|gan|image_classification|object_detection|self_supervised|semantic_segmentation dataset=image_folder|huggingface|csv|coco|yolo|voc
from lib.images import UnreadableImage

#: wrap start
try:
    ...  #: body
except UnreadableImage as error:  # a data worker puts its traceback above
    raise SystemExit(str(error).rpartition("UnreadableImage: ")[2].strip()) from None
