import shutil
from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

from data import build_tokenizer, class_names, count_cut
from lib.metrics import classification_scores, confusion_matrix
from model import Scale
from workarounds import exclude_embeddings

#: slot forward
labels = batch.pop("labels")  # with labels, the model would also compute a loss
logits = model(**batch).logits
#: region loss
loss = compute_loss(
    logits, labels
    #: slot loss_arguments
).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(labels))
#: end add_loss

#: slot start_of_training
if count := count_cut(config):
    accelerator.print(f"{count} of the first 1,000 training texts fill --max-length: the rest is cut")

#: slot end_of_run
if accelerator.is_main_process:  # a folder for from_pretrained
    #: region folder
    folder = config.output_dir / "transformers"
    #: end folder
    accelerator.unwrap_model(model).config.save_pretrained(folder)
    build_tokenizer(config).save_pretrained(folder)
    #: region copy
    shutil.copy(config.output_dir / "model.safetensors", folder)
    #: end copy

#: replace logits when labels=many
labels = batch.pop("labels")
logits = model(**batch).logits

#: replace scale when labels=number
scale = Scale(accelerator.unwrap_model(model).config)

#: replace gathered when labels=number
targets = batch.pop("labels")
predictions = scale.restore(model(**batch).logits)
predictions, targets = accelerator.gather_for_metrics((predictions, targets))

#: replace loss when labels=number
loss = compute_loss(scale.restore(logits), labels, scale).mean()

#: slot before_training when labels=number
scale = Scale(accelerator.unwrap_model(model).config)

#: replace folder with lora
folder = config.output_dir / ("transformers" if config.lora_merge else "adapter")

#: replace copy with lora
if config.lora_merge:
    shutil.copy(config.output_dir / "model.safetensors", folder)

#: replace wrapped_layers when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
exclude_embeddings(model)

#: slot loss_function with labels
#: region compute_loss
def compute_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The loss of each sample, shape (batch,)."""
    return F.cross_entropy(logits, labels, reduction="none")


#: end compute_loss

#: slot evaluate_function with labels
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss, accuracy, macro F1 and Matthews' correlation over the whole set.

    They are the same for any number of processes. gather_for_metrics drops the samples that pad
    the last batch. Average after gathering, never before.
    """
    model.eval()
    loss_sum = confusion = 0
    #: slot before_evaluation
    for batch in {{ task.batches }}:
        labels = batch.pop("labels")
        logits = model(**batch).logits
        losses = compute_loss(logits, labels)
        predictions = logits.argmax(dim=-1)
        losses, predictions, labels = accelerator.gather_for_metrics((losses, predictions, labels))
        loss_sum += losses.sum()
        confusion += confusion_matrix(predictions, labels, classes=logits.shape[-1])
        #: slot evaluated_batch
    #: slot back_to_training
    scores = classification_scores(confusion)
    return {
        f"{name}_loss": float(loss_sum / confusion.sum()),
        **{f"{name}_{score}": value for score, value in scores.items()}
        #: slot evaluated
    }

#: replace draw_confusion with labels with confusion_matrix
confusion_plot.draw(config.output_dir / "confusion.png", class_names(config))
