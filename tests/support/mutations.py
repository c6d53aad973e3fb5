"""Realistic wrong edits of a project."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scaffold.answers.catalog import Value
from scaffold.answers.check import parse_setting
from scaffold.answers.manifests import load_catalog


@dataclass(frozen=True)
class Mutation:
    """A wrong edit of one file, and what the failing test says."""

    name: str
    file: str
    old: str
    new: str
    says: str
    given: Mapping[str, Value]


def read_mutations(text: str) -> Iterator[Mutation]:
    """Each with its name and what is said, perhaps its file and settings, and a patch."""
    for name, says, place, rest in re.findall(
        r"^(\w.*?): (.*)\n(?:@ (.*)\n)?((?:[-+].*\n)+)", text, re.MULTILINE
    ):
        file, *settings = place.split() or ["train.py"]
        old, new = (
            "\n".join(line[1:] for line in rest.splitlines() if line[0] == sign) for sign in "-+"
        )
        if "\n+" not in rest:  # whole lines go
            old += "\n"
        given = dict(parse_setting(load_catalog(), setting) for setting in settings)
        yield Mutation(name, file, old, new, says, given)


TEXT = r"""
schedule steps once for each process: the schedule depends on num_processes
-            schedule.step()
+            [schedule.step() for _ in range(accelerator.num_processes)]
schedule steps once for each batch: step the schedule once for each step
@ train.py training.gradient_accumulation_steps=4
-            progress.batch += 1
+            progress.batch += 1
+            schedule.step()
one rate for all groups of parameters: assert
-    return LambdaLR(optimizer, factor)
+    for group in optimizer.param_groups:
+        group['lr'] = config.learning_rate
+    return LambdaLR(optimizer, factor)
gather removed: differs on 2 processes: gather
-losses, predictions, labels = accelerator.gather_for_metrics((losses, predictions, labels))
+pass
gathered without cutting the padding: differs on 2 processes: gather, drop padding
-gather_for_metrics((losses
+gather((losses
mean of means: average over samples
-loss_sum += losses.sum()
-        correct += (predictions == labels).sum()
-        seen += len(labels)
+loss_sum += losses.mean()
+        correct += (predictions == labels).float().mean()
+        seen += 1
set_epoch dropped: set_epoch
-train_loader.set_epoch(epoch)
+pass
evaluation mode left on: call model.train\(\) after evaluating
-    model.train()
-    return
+    return
evaluation mode forgotten: two evaluations differ: call model.eval\(\) before evaluating
-    model.eval()
training mode not set before an epoch: call model.train\(\) before each epoch
-        model.train()
-        train_loader
+        train_loader
clipping before backward: clip once, after the last backward
-            accelerator.backward(loss)
-            if config.max_grad_norm:
-                grad_norm = accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm)
+            if config.max_grad_norm:
+                grad_norm = accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm)
+            accelerator.backward(loss)
clipping forgotten: clip once, after the last backward
-grad_norm = accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm)
+grad_norm = 0.0
each batch of a step clipped: clip once, after the last backward
@ train.py training.gradient_accumulation_steps=4
-                accelerator.backward(loss)
+                accelerator.backward(loss)
+                if config.max_grad_norm:
+                    accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm)
divided twice: divide by the samples of the window
@ train.py training.gradient_accumulation_steps=4
-                accelerator.backward(loss)
+                accelerator.backward(loss / config.gradient_accumulation_steps)
a step for each batch: step the schedule once for each step|assert
@ train.py training.gradient_accumulation_steps=4
-            if not accelerator.sync_gradients:
+            if False:
rename removed from the checkpoint: it must get its name once it is complete
@ checkpoint.py
-scratch = folder.with_suffix(".partial")
+scratch = folder
gradients not cleared: call optimizer.zero_grad\(\)
-optimizer.zero_grad()
+pass
no step: does not lower the loss
-optimizer.step()
+pass
batches not counted: a resumed run must end like one that never stopped
-progress.batch += 1
+pass
same dropout on all processes: all processes have the same dropout
-set_seed(config.seed, device_specific=True)
+set_seed(config.seed)
model not prepared: differs between 2 processes and one with twice the batch size
-model, optimizer, train_loader, val_loader, test_loader = accelerator.prepare(
-        model, optimizer, train
+optimizer, train_loader, val_loader, test_loader = accelerator.prepare(
+        optimizer, train
best weights not loaded: the best weights must be tested and saved
-    best_model.load(model)
best weights of another run taken: best.safetensors can.t be loaded
@ checkpoint.py
-if self.accelerator.is_main_process and (path / "best.safetensors").exists():
+if False:
early stopping not in the checkpoint: the resumed run trains
@ train.py features.early_stopping.enabled=true
-        "early_stopping": early_stopping,
running loss not in the checkpoint: metrics.jsonl differs: .*The first difference is line \d
-        "train_loss": train_loss,
metrics file not in the checkpoint: metrics.jsonl differs
-        "metrics_file": metrics_file,
average not in the checkpoint: differs: a resumed run must end
@ train.py features.ema.enabled=true
-        "ema": ema,
average not updated: average the weights after each step
@ train.py features.ema.enabled=true
-ema.update()
+pass
average kept in the model after evaluation: training continues with the model's own weights
@ callbacks.py features.ema.enabled=true
-            self.copy(own)
+            pass
loss read on each process alone: of 2 processes stopped where the loss is read|wait for each other
@ metrics.py features.stop_on_nan.enabled=true
-self.accelerator.reduce(self.sums, "sum").tolist()
+self.sums.tolist()
NaN not looked for: DID NOT RAISE
@ train.py features.stop_on_nan.enabled=true
-stop_on_nan(values["loss"], progress.step)
+pass
a signal stops one process: no process may continue on its own|wait for each other
@ preemption.py features.preemption.enabled=true
-stopping = self.accelerator.reduce(votes, "sum") > 0
+pass
data without a generator of its own: advances the RNG of dropout. Pass generator
@ data.py
-        generator=torch.Generator().manual_seed(config.seed),
+
starts over without a word: DID NOT RAISE|Directory not empty
@ checkpoint.py
-            if others:
+            if False:
"""
MUTATIONS = [*read_mutations(TEXT)]
