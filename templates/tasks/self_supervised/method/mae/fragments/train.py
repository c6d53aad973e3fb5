from itertools import islice

import torch
from model import to_patches
from pictures import draw_reconstructions
from torch import Tensor

#: slot loss_function
def compute_loss(outputs: Tensor, images: Tensor, seen: Tensor) -> Tensor:
    """The mean squared error of the masked patches, shape (batch,).

    Outputs are the pixels of all patches, (batch, patches, pixels), and `seen` are the indices of
    the visible patches, (batch, seen).
    """
    errors = (outputs - to_patches(images, outputs.shape[1])).square().mean(dim=2)
    errors = errors.scatter(1, seen, 0.0)
    return errors.sum(dim=1) / (errors.shape[1] - seen.shape[1])

#: slot forward
#: region loss
loss = compute_loss(model(images, seen), images, seen).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(images))
#: end add_loss

#: slot before_training
some = zip(*(sample[:2] for sample in islice(val_loader.dataset, 16)), strict=True)
shown_images, shown_patches = map(torch.stack, some)

#: slot after_evaluation
path = config.output_dir / f"reconstructions_{progress.step:08d}.png"
draw_reconstructions(accelerator, model, shown_images, shown_patches, path)
