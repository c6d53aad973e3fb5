from pathlib import Path

import numpy as np
from data import SIZE
from PIL import ImageOps

#: slot functions
def read_picture(path: Path, config: Config) -> Tensor:
    """A digit, white on black, shape (1, 8, 8), from 0 to 1."""
    try:
        image = ImageOps.fit(Image.open(path).convert("L"), (SIZE, SIZE))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path} can't be read as an image: {error}") from error
    return torch.from_numpy(np.array(image)).unsqueeze(0) / 255
