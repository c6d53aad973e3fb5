from itertools import islice

import torch
import torch.nn.functional as F
from data import build_tokenizer
from metrics import classification_scores, confusion_matrix

#: slot evaluate_function
@torch.no_grad()
def evaluate(model, loader, accelerator, name: str, limit: int) -> dict[str, float]:
    """Mean loss, accuracy, macro F1 and Matthews' correlation over the whole set.

    They are the same for any number of processes: gather_for_metrics cuts off the samples that
    only pad the last batches. It needs one value for each sample: average after it, never before.
    """
    model.eval()
    loss_sum = confusion = 0
    #: slot before_evaluation
    for batch in islice(loader, limit or None):
        logits, labels = model(**batch).logits, batch["labels"]
        losses = F.cross_entropy(logits, labels, reduction="none")
        predictions = logits.argmax(dim=-1)
        losses, predictions, labels = accelerator.gather_for_metrics((losses, predictions, labels))
        loss_sum += losses.sum()
        confusion += confusion_matrix(predictions, labels, classes=logits.shape[-1])
        #: slot evaluated_batch
    model.train()
    scores = classification_scores(confusion)
    return {
        f"{name}_loss": float(loss_sum / confusion.sum()),
        **{f"{name}_{score}": value for score, value in scores.items()},
        #: slot evaluated
    }

#: slot forward
logits, labels = model(**batch).logits, batch["labels"]
#: region loss
loss = F.cross_entropy(
    logits, labels
    #: slot loss_arguments
)
#: end loss
train_loss.add(loss, len(labels))

#: slot end_of_run
if accelerator.is_main_process:  # beside the weights: from_pretrained loads the folder
    for part in (accelerator.unwrap_model(model).config, build_tokenizer(config)):
        part.save_pretrained(config.output_dir)
