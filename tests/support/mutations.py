"""Realistic wrong edits of a project."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from scaffold.answers.catalog import Value

ACCUMULATION = {"training.gradient_accumulation_steps": 4}
EMA = {"features.ema.enabled": True}
EARLY_STOPPING = {"features.early_stopping.enabled": True}
STOP_ON_NAN = {"features.stop_on_nan.enabled": True}
PREEMPTION = {"features.preemption.enabled": True}


@dataclass(frozen=True)
class Mutation:
    """A wrong edit of one file, and what the failing test says."""

    name: str
    file: str
    old: str
    new: str
    says: str
    given: Mapping[str, Value] = field(default_factory=dict)


MUTATIONS = [
    Mutation(
        "schedule steps once for each process",
        "train.py",
        "            schedule.step()\n",
        "            [schedule.step() for _ in range(accelerator.num_processes)]\n",
        "the schedule depends on num_processes",
    ),
    Mutation(
        "schedule steps once for each batch",
        "train.py",
        "            progress.batch += 1\n",
        "            progress.batch += 1\n            schedule.step()\n",
        "step the schedule once for each step",
        ACCUMULATION,
    ),
    Mutation(
        "one rate for all groups of parameters",
        "train.py",
        "    return LambdaLR(optimizer, factor)\n",
        "    for group in optimizer.param_groups:\n        group['lr'] = config.learning_rate\n"
        "    return LambdaLR(optimizer, factor)\n",
        "assert",
    ),
    Mutation(
        "gather removed",
        "train.py",
        "losses, predictions, labels = "
        "accelerator.gather_for_metrics((losses, predictions, labels))",
        "pass",
        "differs on 2 processes: gather",
    ),
    Mutation(
        "gathered without cutting the padding",
        "train.py",
        "gather_for_metrics((losses",
        "gather((losses",
        "differs on 2 processes: gather, drop padding",
    ),
    Mutation(
        "mean of means",
        "train.py",
        "loss_sum += losses.sum()\n        correct += (predictions == labels).sum()\n"
        "        seen += len(labels)",
        "loss_sum += losses.mean()\n        correct += (predictions == labels).float().mean()\n"
        "        seen += 1",
        "average over samples",
    ),
    Mutation("set_epoch dropped", "train.py", "train_loader.set_epoch(epoch)", "pass", "set_epoch"),
    Mutation(
        "evaluation mode left on",
        "train.py",
        "    model.train()\n    return",
        "    return",
        "call model.train\\(\\) after evaluating",
    ),
    Mutation(
        "evaluation mode forgotten",
        "train.py",
        "    model.eval()\n",
        "",
        "two evaluations differ: call model.eval\\(\\) before evaluating",
    ),
    Mutation(
        "training mode not set before an epoch",
        "train.py",
        "        model.train()\n        train_loader",
        "        train_loader",
        "call model.train\\(\\) before each epoch",
    ),
    Mutation(
        "clipping before backward",
        "train.py",
        "            accelerator.backward(loss)\n",
        "            if config.max_grad_norm:\n"
        "                accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm)\n"
        "            accelerator.backward(loss)\n",
        "clip once, after the last backward",
    ),
    Mutation(
        "clipping forgotten",
        "train.py",
        "grad_norm = accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm)",
        "grad_norm = 0.0",
        "clip once, after the last backward",
    ),
    Mutation(
        "each batch of a step clipped",
        "train.py",
        "                accelerator.backward(loss)\n",
        "                accelerator.backward(loss)\n"
        "                for parameter in model.parameters():\n"
        "                    parameter.grad.clamp_(-1e-4, 1e-4)\n",
        "clip once, after the last backward",
        ACCUMULATION,
    ),
    Mutation(
        "divided twice",
        "train.py",
        "                accelerator.backward(loss)\n",
        "                accelerator.backward(loss / config.gradient_accumulation_steps)\n",
        "divide by the samples of the window",
        ACCUMULATION,
    ),
    Mutation(
        "a step for each batch",
        "train.py",
        "            if not accelerator.sync_gradients:\n",
        "            if False:\n",
        "step the schedule once for each step|assert",
        ACCUMULATION,
    ),
    Mutation(
        "rename removed from the checkpoint",
        "checkpoint.py",
        'scratch = folder.with_suffix(".partial")',
        "scratch = folder",
        "it must get its name once it is complete",
    ),
    Mutation(
        "gradients not cleared",
        "train.py",
        "optimizer.zero_grad()",
        "pass",
        "call optimizer.zero_grad\\(\\)",
    ),
    Mutation("no step", "train.py", "optimizer.step()", "pass", "does not lower the loss"),
    Mutation(
        "batches not counted",
        "train.py",
        "progress.batch += 1",
        "pass",
        "a resumed run must end like one that never stopped",
    ),
    Mutation(
        "same dropout on all processes",
        "train.py",
        "set_seed(config.seed, device_specific=True)",
        "set_seed(config.seed)",
        "all processes have the same dropout",
    ),
    Mutation(
        "model not prepared",
        "train.py",
        "model, optimizer, train_loader, val_loader, test_loader = accelerator.prepare(\n"
        "        model, optimizer, train",
        "optimizer, train_loader, val_loader, test_loader = accelerator.prepare(\n"
        "        optimizer, train",
        "differs between 2 processes and one with twice the batch size",
    ),
    Mutation(
        "best weights not loaded",
        "train.py",
        "    best_model.load(model)\n",
        "",
        "the best weights must be tested and saved",
    ),
    Mutation(
        "best weights of another run taken",
        "checkpoint.py",
        'if self.accelerator.is_main_process and (path / "best.safetensors").exists():',
        "if False:",
        "best.safetensors can.t be loaded",
    ),
    Mutation(
        "early stopping not in the checkpoint",
        "train.py",
        '        "early_stopping": early_stopping,\n',
        "",
        "the resumed run trains",
        EARLY_STOPPING,
    ),
    Mutation(
        "running loss not in the checkpoint",
        "train.py",
        '        "train_loss": train_loss,\n',
        "",
        "metrics.jsonl differs: .*The first difference is line 1",
    ),
    Mutation(
        "metrics file not in the checkpoint",
        "train.py",
        '        "metrics_file": metrics_file,\n',
        "",
        "metrics.jsonl differs",
    ),
    Mutation(
        "average not in the checkpoint",
        "train.py",
        '        "ema": ema,\n',
        "",
        "differs: a resumed run must end",
        EMA,
    ),
    Mutation(
        "average not updated",
        "train.py",
        "ema.update()",
        "pass",
        "average the weights after each step",
        EMA,
    ),
    Mutation(
        "average kept in the model after evaluation",
        "callbacks.py",
        "            self.copy(own)",
        "            pass",
        "training continues with the model's own weights",
        EMA,
    ),
    Mutation(
        "loss read on each process alone",
        "metrics.py",
        'self.accelerator.reduce(self.sums, "sum").tolist()',
        "self.sums.tolist()",
        "of 2 processes stopped where the loss is read|wait for each other",
        STOP_ON_NAN,
    ),
    Mutation(
        "NaN not looked for",
        "train.py",
        'stop_on_nan(values["loss"], progress.step)',
        "pass",
        "DID NOT RAISE",
        STOP_ON_NAN,
    ),
    Mutation(
        "a signal stops one process",
        "preemption.py",
        'stopping = self.accelerator.reduce(votes, "sum") > 0',
        "pass",
        "no process may continue on its own|wait for each other",
        PREEMPTION,
    ),
    Mutation(
        "data without a generator of its own",
        "data.py",
        "        generator=torch.Generator().manual_seed(config.seed),",
        "",
        "advances the RNG of dropout. Pass generator",
    ),
    Mutation(
        "starts over without a word",
        "checkpoint.py",
        "            if others:\n",
        "            if False:\n",
        "DID NOT RAISE",
    ),
]
