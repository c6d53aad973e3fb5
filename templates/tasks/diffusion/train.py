from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

from diffusion import add_noise, find_targets, sample
from distance import Moments, frechet_distance
from pictures import draw_samples

#: slot loss_function
#: region compute_loss
def compute_loss(model: nn.Module, images: Tensor, noise: Tensor, times: Tensor) -> Tensor:
    """The mean squared error of each image, shape (batch,)."""
    images = 2 * images - 1
    outputs = model(add_noise(images, noise, times), times)
    #: end compute_loss
    targets = find_targets(images, noise, times)
    return F.mse_loss(outputs, targets, reduction="none").mean(dim=(1, 2, 3))

#: slot evaluate_function
COMPARED = 1000  # maximum number of images of a set to compare


@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss, and Fréchet distance between real images and the same number of generated images.

    Both are the same for any number of processes: each image of a set has its own noise and time,
    and an image is generated from that noise. gather_for_metrics drops the images that pad the
    last batch.
    """
    model.eval()
    loss_sum = seen = 0
    real, generated = Moments(), Moments()
    #: slot before_evaluation
    for {{ task.batch }} in {{ task.batches }}:
        losses = accelerator.gather_for_metrics(compute_loss(model, {{ task.batch }}))
        loss_sum += losses.sum()
        if seen < COMPARED:
            #: region pair
            pair = (images, sample(model, noise))
            #: end pair
            images, fakes = accelerator.gather_for_metrics(pair)
            real.add(images[: COMPARED - seen])
            generated.add(fakes[: COMPARED - seen])
        seen += len(losses)
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(loss_sum) / seen,
        f"{name}_distance": frechet_distance(real, generated)
        #: slot evaluated
    }

#: slot forward
#: region loss
loss = compute_loss(model, {{ task.batch }}).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(images))
#: end add_loss

#: slot after_evaluation
draw_samples(accelerator, model, config, config.output_dir / f"samples_{progress.step:08d}.png")

#: replace compute_loss when condition=classes
def compute_loss(
    model: nn.Module, images: Tensor, noise: Tensor, times: Tensor, labels: Tensor
) -> Tensor:
    """The mean squared error of each image, shape (batch,)."""
    images = 2 * images - 1
    outputs = model(add_noise(images, noise, times), times, labels)

#: slot before_epoch without augmentation
train_loader.dataset.set_epoch(epoch)  # new noise in each epoch

#: replace pair when condition=classes
pair = (images, sample(model, noise, labels))
