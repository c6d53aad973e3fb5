from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

from pictures import draw_reconstructions

#: slot loss_function
def compute_loss(outputs: Tensor, images: Tensor) -> Tensor:
    """The mean squared error of each image, shape (batch,)."""
    return F.mse_loss(outputs, images, reduction="none").mean(dim=(1, 2, 3))

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean squared error, and mean peak signal-to-noise ratio (PSNR) in decibels, of a whole set.

    Both are the same for any number of processes. gather_for_metrics drops the images that pad
    the last batch. Average after gathering, never before.
    """
    model.eval()
    loss_sum = psnr_sum = seen = 0
    #: slot before_evaluation
    for {{ task.batch }} in {{ task.batches }}:
        losses = accelerator.gather_for_metrics(compute_loss(model(images), images))
        loss_sum += losses.sum()
        psnr_sum -= 10 * losses.log10().sum()  # the highest value of a pixel is 1
        seen += len(losses)
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(loss_sum) / seen,
        f"{name}_psnr": float(psnr_sum) / seen
        #: slot evaluated
    }

#: slot forward
#: region loss
loss = compute_loss(model(images), images).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(images))
#: end add_loss

#: slot before_training when project.loop=complete
#: region shown
shown = torch.stack([val_loader.dataset[index][0] for index in range(16)])
#: end shown

#: slot after_evaluation
path = config.output_dir / f"reconstructions_{progress.step:08d}.png"
draw_reconstructions(accelerator, model, shown, path)

#: replace shown when dataset=image_folder project.loop=complete
shown = torch.stack(list(islice(val_loader.dataset, 16)))
