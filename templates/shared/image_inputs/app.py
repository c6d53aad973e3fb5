#: when project.task=autoencoder|image_classification|object_detection|self_supervised|semantic_segmentation
import os
from pathlib import Path

#: slot inputs
inputs = gr.Image(type="filepath", image_mode=None, label="image")  # the file as it is

#: replace raised
folder = Path(values[0] or "").parent  # where the page stores uploads
raise gr.Error(str(error).replace(f"{folder}{os.sep}", ""), print_exception=False) from error
