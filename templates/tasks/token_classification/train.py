import json
from itertools import islice

import torch

from data import count_cut, tag_names
from metrics import count_entities, entity_scores

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss per word, and precision, recall and F1 of entities, over the whole set.

    They are the same for any number of processes. gather_for_metrics drops the sentences that pad
    the last batch. Divide the sums after gathering: a mean of F1 over batches is not F1.
    """
    model.eval()
    loss_sum = words_seen = counts = 0
    #: slot before_evaluation
    for inputs, mask, targets in {{ task.batches }}:
        logits = model(inputs, mask)
        losses = compute_loss(logits, targets).sum(dim=1)
        found = count_entities(logits.argmax(dim=-1), targets)
        values = (losses, count_tokens(targets), found)
        losses, words, found = accelerator.gather_for_metrics(values)
        loss_sum += losses.sum()
        words_seen += words.sum()
        counts += found.sum(dim=0)
        #: slot evaluated_batch
    #: slot back_to_training
    scores = entity_scores(counts)
    return {
        f"{name}_loss": float(loss_sum / words_seen),
        **{f"{name}_{score}": value for score, value in scores.items()}
        #: slot evaluated
    }

#: slot forward
#: region loss
losses = compute_loss(model(inputs, mask), targets)
#: end loss
#: region add_loss
train_loss.add(losses, targets)
#: end add_loss

#: slot start_of_training
if accelerator.is_main_process:  # a target is an index into this list
    #: slot folder
    (config.output_dir / "tags.json").write_text(json.dumps(tag_names(config)))
for part, words in zip(("training", "validation", "test"), count_cut(config), strict=True):
    if words:
        accelerator.print(f"{words} words of the {part} data are beyond --max-length and are left out")
