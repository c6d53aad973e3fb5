from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

from data import class_names, load_clips
from pictures import draw_sounds

#: slot loss_function
#: region compute_loss
def compute_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The loss of each sound, shape (batch,)."""
    return F.cross_entropy(logits, labels, reduction="none")


#: end compute_loss

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss and accuracy of all sounds. gather_for_metrics drops the padding."""
    model.eval()
    loss_sum = correct = seen = 0
    #: slot before_evaluation
    for inputs, lengths, labels in {{ task.batches }}:
        logits = model(inputs, lengths)
        losses = compute_loss(logits, labels)
        predictions = logits.argmax(dim=-1)
        losses, predictions, labels = accelerator.gather_for_metrics((losses, predictions, labels))
        loss_sum += losses.sum()
        correct += (predictions == labels).sum()
        seen += len(labels)
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(loss_sum) / seen,
        f"{name}_accuracy": float(correct) / seen
        #: slot evaluated
    }

#: slot forward
#: region loss
loss = compute_loss(
    model(inputs, lengths), labels
    #: slot loss_arguments
).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(labels))
#: end add_loss

#: slot before_training when project.loop=complete
shown = [val_loader.dataset[row] for row in range(min(8, len(val_loader.dataset)))]

#: slot after_evaluation
path = config.output_dir / f"sounds_{progress.step:08d}.png"
draw_sounds(accelerator, model, shown, class_names(config), path)

#: slot start_of_training when dataset=files
cut = sum(clip.seconds > config.seconds for part in load_clips(config) for clip in part)
if cut:
    accelerator.print(f"{cut} sounds are longer than --seconds: the rest is cut")

#: replace draw_confusion with confusion_matrix
confusion_plot.draw(config.output_dir / "confusion.png", class_names(config))

#: replace loss with distillation
logits = model(inputs, lengths)
loss = compute_loss(
    logits, labels
    #: slot loss_arguments
).mean()
