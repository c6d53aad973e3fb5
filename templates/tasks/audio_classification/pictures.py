#: file when project.loop=complete
"""Pictures of spectrograms with predictions, written during training."""

from pathlib import Path

import torch
from accelerate import Accelerator
from PIL import Image, ImageDraw
from torch import Tensor, nn
from torch.utils.data import default_collate

WIDTH, HEIGHT, LINE = 160, 128, 16  # pixels of a spectrogram, and of the line of text below it


@torch.no_grad()
def draw_sounds(
    accelerator: Accelerator, model: nn.Module, samples: list, names: list[str], path: Path
) -> None:
    """Draw spectrograms of samples of a dataset, and below each the class that the model predicts.

    A wrong class is red, with the true class next to it.
    """
    inputs, lengths, labels = default_collate(samples)
    #: region draw
    if accelerator.is_main_process:
        classifier = accelerator.unwrap_model(model)  # only the main process runs it
        classifier.eval()
        batch = inputs.to(accelerator.device), lengths.to(accelerator.device)
        predictions = classifier(*batch).argmax(dim=1).cpu()
        classifier.train()
        save_tiles(inputs, labels, predictions, names, path)
    #: end draw


def save_tiles(
    inputs: Tensor, labels: Tensor, predictions: Tensor, names: list[str], path: Path
) -> None:
    picture = Image.new("RGB", (4 * WIDTH, -(-len(inputs) // 4) * (HEIGHT + LINE)), "white")
    pen = ImageDraw.Draw(picture)
    for number, (sound, label, predicted) in enumerate(
        zip(inputs, labels.tolist(), predictions.tolist(), strict=True)
    ):
        left, top = number % 4 * WIDTH, number // 4 * (HEIGHT + LINE)
        picture.paste(draw_spectrogram(sound).resize((WIDTH - 2, HEIGHT)), (left, top))
        right = predicted == label
        text = names[label] if right else f"{names[predicted]}, not {names[label]}"
        pen.text((left + 2, top + HEIGHT + 1), text[:24], fill="black" if right else "red")
    picture.save(path)


def draw_spectrogram(spectrogram: Tensor) -> Image.Image:
    """A spectrogram, low pitches at the bottom; louder is darker."""
    #: slot spectrogram
    low, high = spectrogram.min(), spectrogram.max()
    shades = 255 * (high - spectrogram) / (high - low).clamp(min=1e-5)
    return Image.fromarray(shades.byte().T.flip(0).contiguous().numpy())
#: end file

from lib.sounds import log_mel

#: slot spectrogram when model=pretrained
if spectrogram.dim() == 1:  # models such as wav2vec2 take the sound itself
    spectrogram = log_mel(spectrogram, 16000, 64)
if spectrogram.shape[0] < spectrogram.shape[1]:
    spectrogram = spectrogram.T

#: replace draw when hardware.sharding=deepspeed|fsdp
# run on all processes: each one holds a shard of the weights
model.eval()
batch = inputs.to(accelerator.device), lengths.to(accelerator.device)
predictions = model(*batch).argmax(dim=1).cpu()
model.train()
if accelerator.is_main_process:
    save_tiles(inputs, labels, predictions, names, path)
