from itertools import islice

import torch
from torch import Tensor

from contrast import Gather, contrast, embed, find_rivals, rank_pairs, rank_positives
from data import count_cut
from metrics import pair_scores, retrieval_scores

#: slot loss_function without image_texts
def compute_loss(
    vectors: Tensor, numbers: Tensor, others: Tensor, other_numbers: Tensor, temperature: float
) -> Tensor:
    """The loss of each row: its anchor has to find its positive among the texts of all rows.

    `vectors` (batch, texts, width) and `numbers` (batch, texts) are those of the rows; `others` and
    `other_numbers` are those of all rows to compare with, which include them.
    """
    own = (vectors[:, 0] * vectors[:, 1]).sum(dim=1, keepdim=True)
    similarities = vectors[:, 0] @ others[:, 1:].flatten(0, 1).T
    rivals = find_rivals(numbers, other_numbers).flatten(1)
    return contrast(own, similarities.masked_fill(~rivals, -torch.inf), temperature)

#: slot evaluate_function without image_texts
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss, recall and mean reciprocal rank: each anchor searches all texts of the set.

    They are the same for any number of processes and any batch size. gather_for_metrics drops the
    rows that pad the last batch. Compare after gathering: within a batch, it is easier.
    """
    model.eval()
    batches = []
    #: slot before_evaluation
    for tokens, mask, numbers in {{ task.batches }}:
        values = (embed(model, tokens, mask).float(), numbers)
        batches.append(accelerator.gather_for_metrics(values))
        #: slot evaluated_batch
    #: slot back_to_training
    vectors, numbers = map(torch.cat, zip(*batches, strict=True))
    temperature = accelerator.unwrap_model(model).temperature
    losses, ranks = rank_positives(vectors, numbers, temperature)
    return {
        f"{name}_loss": float(losses.mean()),
        **{f"{name}_{score}": value for score, value in retrieval_scores(ranks).items()}
        #: slot evaluated
    }

#: slot forward without image_texts
vectors = embed(model, tokens, mask)
#: region loss
# anchors are compared with the texts of all processes
others = Gather.apply(vectors, accelerator)
other_numbers = accelerator.gather(numbers)
loss = compute_loss(vectors, numbers, others, other_numbers, config.temperature).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(numbers))
#: end add_loss

#: slot start_of_training without image_texts
if count := count_cut(config):
    accelerator.print(f"{count} texts of the first 1,000 training rows fill --max-length: the rest is cut")

#: slot loss_function with image_texts
def compute_loss(vectors: Tensor, numbers: Tensor, others: Tensor, other_numbers: Tensor) -> Tensor:
    """The loss of each row: its image has to find its text among those of all rows, and its text
    the image.

    `vectors` (batch, 2, width) and `numbers` (batch, 2) are those of the rows; `others` and
    `other_numbers` are those of all rows to compare with, which include them.
    The mean of both directions is the loss
    of CLIP: Radford and others 2021, https://arxiv.org/abs/2103.00020, figure 3
    """
    rivals = find_rivals(numbers, other_numbers)
    own = (vectors[:, 0] * vectors[:, 1]).sum(dim=1, keepdim=True)
    losses = []
    for part in (0, 1):
        similarities = vectors[:, part] @ others[:, 1 - part].T
        similarities = similarities.masked_fill(~rivals, -torch.inf)
        losses.append(contrast(own, similarities, temperature=1))  # part of the vectors
    return torch.stack(losses).mean(dim=0)

#: slot evaluate_function with image_texts
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss, recall and mean reciprocal rank: images search all texts of the set, and texts
    all images.

    They are the same for any number of processes and any batch size. gather_for_metrics drops the
    rows that pad the last batch. Compare after gathering: within a batch, it is easier.
    """
    model.eval()
    batches = []
    #: slot before_evaluation
    for images, tokens, mask, numbers in {{ task.batches }}:
        values = (model(images, tokens, mask).float(), numbers)
        batches.append(accelerator.gather_for_metrics(values))
        #: slot evaluated_batch
    #: slot back_to_training
    vectors, numbers = map(torch.cat, zip(*batches, strict=True))
    losses, ranks = rank_pairs(vectors, numbers)
    return {
        f"{name}_loss": float(losses.mean()),
        **{f"{name}_{score}": value for score, value in pair_scores(ranks).items()}
        #: slot evaluated
    }

#: slot forward with image_texts
vectors = model(images, tokens, mask)
#: region loss
# images and texts of all processes are compared
others = Gather.apply(vectors, accelerator)
other_numbers = accelerator.gather(numbers)
loss = compute_loss(vectors, numbers, others, other_numbers).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(numbers))
#: end add_loss

#: slot after_step with image_texts
accelerator.unwrap_model(model).clamp_temperature()

#: slot start_of_training with image_texts
if count := count_cut(config):
    accelerator.print(f"{count} of the first 1,000 training texts fill --max-length: the rest is cut")
