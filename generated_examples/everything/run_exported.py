"""Prints what model.onnx predicts: `python run.py image.png`, without PyTorch.

`export.py --format onnx` puts this next to it. It needs onnxruntime, numpy and Pillow.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image, ImageOps

# what Image.open may read: EPS, for one, would start another program
FORMATS = ["BMP", "GIF", "ICO", "JPEG", "JPEG2000", "PNG", "PPM", "TGA", "TIFF", "WEBP"]


def main() -> None:
    session = onnxruntime.InferenceSession(Path(__file__).with_name("model.onnx"))
    written = session.get_modelmeta().custom_metadata_map
    facts = {name: json.loads(value) for name, value in written.items()}
    [given], size = session.get_inputs(), facts["size"]
    for path in sys.argv[1:]:
        picture = Image.open(path, formats=FORMATS)
        picture.draft(facts["mode"], (2 * size, 2 * size))  # a large JPEG is read faster
        picture = ImageOps.exif_transpose(picture).convert(facts["mode"])
        pixels = np.array(ImageOps.fit(picture, (size, size))).reshape(1, size, size, -1)
        images = pixels.transpose(0, 3, 1, 2)  # bytes, from 0 to 255
        if facts["range"] == [0, 1]:
            images = (images / 255).astype(np.float32)
        [outputs] = session.run(None, {given.name: images})[0]
        print(path, facts["classes"][outputs.argmax()])


if __name__ == "__main__":
    main()
