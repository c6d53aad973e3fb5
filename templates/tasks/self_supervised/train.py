from itertools import islice

import torch
from torch import Tensor, nn

from contrast import compare_views
from lib.contrast import Gather
from model import to_patches
from pictures import draw_reconstructions, draw_views
from probe import find_new, find_right

#: slot loss_function when method=simclr
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

#: slot forward when method=simclr
vectors = project(model, views)
#: region loss
loss = compute_loss(vectors, accelerator).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(views))
#: end add_loss

#: slot start_of_training when method=simclr project.loop=complete
if accelerator.is_main_process:
    draw_views(train_loader.dataset, config.output_dir / "views.png")

#: slot after_prepare when method=simclr
if config.batch_size * accelerator.num_processes < 2:
    raise SystemExit("--batch-size 1: there is no other image to compare with.")

#: slot loss_function when method=mae
def compute_loss(outputs: Tensor, images: Tensor, seen: Tensor) -> Tensor:
    """The mean squared error of the masked patches, shape (batch,).

    Outputs are the pixels of all patches, (batch, patches, pixels), and `seen` are the indices of
    the visible patches, (batch, seen).
    """
    errors = (outputs - to_patches(images, outputs.shape[1])).square().mean(dim=2)
    errors = errors.scatter(1, seen, 0.0)
    return errors.sum(dim=1) / (errors.shape[1] - seen.shape[1])

#: slot forward when method=mae
#: region loss
loss = compute_loss(model(images, seen), images, seen).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(images))
#: end add_loss

#: slot before_training when method=mae project.loop=complete
some = zip(*(sample[:2] for sample in islice(val_loader.dataset, 16)), strict=True)
shown_images, shown_patches = map(torch.stack, some)

#: slot after_evaluation when method=mae
path = config.output_dir / f"reconstructions_{progress.step:08d}.png"
draw_reconstructions(accelerator, model, shown_images, shown_patches, path)

#: slot before_epoch without augmentation
train_loader.dataset.set_epoch(epoch)  # new views or patches in each epoch

#: slot evaluate_function when method=simclr probe=classes
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss of a set, and the accuracy of the probes.

    All are the same for any number of processes and any batch size: views are compared within the
    set. gather_for_metrics drops the images that pad the last batch. The known images, whose
    labels the probes use, are not evaluated.
    """
    model.eval()
    batches = []
    #: slot before_evaluation
    for images, views, labels, known in {{ task.batches }}:
        values = (project(model, views).float(), model(images).float(), labels, known)
        batches.append(accelerator.gather_for_metrics(values))
        #: slot evaluated_batch
    #: slot back_to_training
    vectors, features, labels, known = map(torch.cat, zip(*batches, strict=True))
    right = find_right(features, labels, known)
    return {
        f"{name}_loss": float(compare_all(vectors[find_new(known)]).mean()),
        **{f"{name}_{probe}_accuracy": float(found.double().mean()) for probe, found in right.items()}
        #: slot evaluated
    }

#: slot evaluate_function when method=simclr probe=none
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss of a whole set, whose views are compared with each other.

    It is the same for any number of processes and any batch size. gather_for_metrics drops the
    images that pad the last batch.
    """
    model.eval()
    batches = []
    #: slot before_evaluation
    for _, views in {{ task.batches }}:
        batches.append(accelerator.gather_for_metrics(project(model, views).float()))
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(compare_all(torch.cat(batches)).mean())
        #: slot evaluated
    }

#: slot evaluate_function when method=mae probe=classes
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss of a set, and the accuracy of the probes.

    All are the same for any number of processes. gather_for_metrics drops the images that pad the
    last batch. The known images, whose labels the probes use, are not evaluated.
    """
    model.eval()
    batches = []
    #: slot before_evaluation
    for images, seen, labels, known in {{ task.batches }}:
        losses = compute_loss(model(images, seen), images, seen)
        values = (losses, model(images).float(), labels, known)
        batches.append(accelerator.gather_for_metrics(values))
        #: slot evaluated_batch
    #: slot back_to_training
    losses, features, labels, known = map(torch.cat, zip(*batches, strict=True))
    right = find_right(features, labels, known)
    return {
        f"{name}_loss": float(losses[find_new(known)].mean()),
        **{f"{name}_{probe}_accuracy": float(found.double().mean()) for probe, found in right.items()}
        #: slot evaluated
    }

#: slot evaluate_function when method=mae probe=none
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss of a whole set. gather_for_metrics drops the images that pad the last batch."""
    model.eval()
    loss_sum = count = 0
    #: slot before_evaluation
    for images, seen in {{ task.batches }}:
        losses = compute_loss(model(images, seen), images, seen)
        losses = accelerator.gather_for_metrics(losses)
        loss_sum += losses.sum()
        count += len(losses)
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(loss_sum) / count
        #: slot evaluated
    }
