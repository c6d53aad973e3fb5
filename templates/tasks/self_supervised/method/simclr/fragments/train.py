from itertools import islice

import torch
from contrast import Gather, compare_views
from pictures import draw_views
from torch import Tensor, nn

#: slot loss_function
def project(model: nn.Module, views: Tensor) -> Tensor:
    """The projections of the views of images, shape (batch, 2, width)."""
    return model(views.flatten(0, 1), project=True).unflatten(0, (-1, 2))


def compute_loss(vectors: Tensor, accelerator) -> Tensor:
    """The loss of each image, shape (batch,), among the images of all processes."""
    others = Gather.apply(vectors, accelerator)
    places = torch.arange(len(vectors), device=vectors.device)
    return compare_views(vectors, others, places + accelerator.process_index * len(vectors))


def compare_all(vectors: Tensor) -> Tensor:
    """The loss of each image, shape (images,), among all of a set."""
    places = torch.arange(len(vectors), device=vectors.device)
    # in parts: all at once would need memory for the square of the images
    parts = zip(vectors.split(256), places.split(256), strict=True)
    return torch.cat([compare_views(part, vectors, rows) for part, rows in parts])

#: slot forward
vectors = project(model, views)
#: region loss
loss = compute_loss(vectors, accelerator).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(views))
#: end add_loss

#: slot start_of_training
if accelerator.is_main_process:
    draw_views(train_loader.dataset, config.output_dir / "views.png")

#: slot after_prepare
if config.batch_size * accelerator.num_processes < 2:
    raise SystemExit("--batch-size 1: there is no other image to compare with.")
