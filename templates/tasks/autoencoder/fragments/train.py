from itertools import islice

import torch
import torch.nn.functional as F
from pictures import draw_reconstructions

#: slot evaluate_function
@torch.no_grad()
def evaluate(model, loader, accelerator, name: str, limit: int) -> dict[str, float]:
    """Mean squared error of a pixel, and peak signal-to-noise ratio (PSNR) of an image in decibels.

    Means over all images of the set, the same for any number of processes: gather_for_metrics cuts
    off those that only pad the last batches. It needs one value for each: average after it.
    """
    model.eval()
    loss_sum = psnr_sum = seen = 0
    #: slot before_evaluation
    for images, _ in islice(loader, limit or None):
        losses = F.mse_loss(model(images), images, reduction="none").mean(dim=(1, 2, 3))
        losses = accelerator.gather_for_metrics(losses)
        loss_sum += losses.sum()
        psnr_sum -= 10 * losses.log10().sum()  # the peak of a pixel is 1
        seen += len(losses)
        #: slot evaluated_batch
    model.train()
    return {
        f"{name}_loss": float(loss_sum) / seen,
        f"{name}_psnr": float(psnr_sum) / seen,
        #: slot evaluated
    }

#: slot forward
images, _ = batch
#: region loss
loss = F.mse_loss(model(images), images)
#: end loss
train_loss.add(loss, len(images))

#: slot setup
shown = torch.stack([val_loader.dataset[index][0] for index in range(16)])

#: slot after_evaluation
path = config.output_dir / f"reconstructions_{progress.update:08}.png"
draw_reconstructions(accelerator, model, shown, path)
