"""Edits of evaluation, log lines, trackers, checkpoints and what is kept."""

from corpus.edit import CALLBACKS, CHECKPOINT, METRICS, REPORTED, TRAIN, field, kind
from corpus.script import add_import, after, before, comment_out, define, delete, replace, sub, wrap
from corpus.structure import without_unused_imports

NANO, TIMM, CIFAR, LLAMA = (
    "karpathy/nanoGPT:train.py",
    "huggingface/pytorch-image-models:train.py",
    "kuangliu/pytorch-cifar:main.py",
    "karpathy/llama2.c:train.py",
)
GLUE = "huggingface/transformers:examples/pytorch/text-classification/run_glue_no_trainer.py"
CLM = "huggingface/transformers:examples/pytorch/language-modeling/run_clm_no_trainer.py"
CONVNEXT, MAE, IMAGENET = (
    "facebookresearch/ConvNeXt:main.py",
    "facebookresearch/mae:main_pretrain.py",
    "pytorch/examples:imagenet/main.py",
)
YOLO = "ultralytics/yolov5:train.py"
PPO = "vwxyzjn/cleanrl:cleanrl/ppo.py"
BASE = "victoresque/pytorch-template:base/base_trainer.py"
DDPM = "lucidrains/denoising-diffusion-pytorch:denoising_diffusion_pytorch/denoising_diffusion_pytorch.py"

VALIDATE = r'metrics \|= evaluate\(accelerator, model, val_loader, "val"'
BEST = r"best_model\.update\("
EPOCH_LOG = r'log\(f"epoch '
TEST = r"metrics = evaluate\(accelerator, model, test_loader"
SAVE, DONE = r"save_weights\(", r'log\(f"done'
STEPS, PSTEP = r"progress = Progress", r"progress\.step \+= 1"
RESUME, VALUES = r"checkpoints\.resume\(", r'values = \{"loss"'
AFTER_EPOCH = r'if config\.checkpoint_unit == "epochs"'
LOADED = r"best_model\.load\("
GATHERED = r"losses, predictions, labels = accelerator\.gather"

# evaluation

kind("error rate", IMAGENET, "metrics gets 1 - accuracy")(
    after(VALIDATE, 'metrics["val_error"] = 1 - metrics["val_accuracy"]')
)
kind("perplexity", CLM, "exp of the validation loss, with a try")(
    after(
        VALIDATE,
        'try:\n    metrics["val_perplexity"] = math.exp(metrics["val_loss"])\nexcept OverflowError:\n    metrics["val_perplexity"] = float("inf")',
    ),
    add_import("import math"),
)
kind("best accuracy kept in a variable", CIFAR, "best_acc and a print")(
    before(STEPS, "best_acc = 0.0"),
    after(
        BEST,
        'if metrics["val_accuracy"] > best_acc:\n    best_acc = metrics["val_accuracy"]\n    log(f"Max accuracy: {best_acc:.2%}")',
    ),
)
kind("best by the loss", NANO, "best_model sees -val_loss")(
    sub(r'best_model\.update\(metrics\["val_accuracy"\]', 'best_model.update(-metrics["val_loss"]')
)
kind("no best model", MAE, "its update is a comment, and so is its load")(
    comment_out(BEST), comment_out(LOADED)
)
kind("test at the end deleted", NANO, "the lines of the test go")(
    delete(TEST),
    sub(r'^    log\(f"done \| .*\n((    accelerator\.log.*\n)?)    metrics_file.*\n', ""),
    decide=["predictions"],
)
kind("test on the validation data", CIFAR, "the last evaluation uses val_loader")(
    sub(
        r'evaluate\(accelerator, model, test_loader, "test"',
        'evaluate(accelerator, model, val_loader, "test"',
    )
)
kind("test in each epoch", CIFAR, "a second evaluation beside that of the validation data")(
    after(
        VALIDATE,
        'metrics |= evaluate(accelerator, model, test_loader, "test", config.limit_batches)',
    ),
    decide=["evaluation by steps"],  # in each epoch still, or beside the evaluation as before?
)
kind("evaluation of the training data", NANO, "the training data are evaluated, too")(
    after(VALIDATE, 'metrics |= evaluate(accelerator, model, train_loader, "train_eval", 2)')
)
kind("evaluation every second epoch", TIMM, "if epoch % config.val_interval == 0")(
    field("val_interval: int = 1  # epochs between evaluations"),
    wrap(VALIDATE, BEST, "if (epoch + 1) % config.val_interval == 0:"),
    decide=["evaluation by steps"],  # two rules for when to evaluate
)
kind("evaluation before training", "karpathy/nanochat:scripts/base_train.py", "behind resume()")(
    after(RESUME, 'log(format_metrics(evaluate(accelerator, model, val_loader, "start", 1)))')
)
kind("evaluation alone", NANO, "a field eval_only that leaves behind an evaluation")(
    field("eval_only: bool = False  # evaluate, and stop"),
    after(
        RESUME,
        'if config.eval_only:\n    log(format_metrics(evaluate(accelerator, model, val_loader, "val", 0)))\n    return',
    ),
)
kind("top-5 accuracy", IMAGENET, "evaluate counts the five best, too")(
    sub(r"^    loss_sum = correct = seen = 0$", "    loss_sum = correct = correct5 = seen = 0"),
    sub(
        r"^( +)predictions = logits\.argmax\(dim=-1\)$",
        r"\1predictions = logits.argmax(dim=-1)\n\1in_five = (logits.topk(5, dim=-1).indices == labels[:, None]).any(dim=-1)\n\1correct5 += accelerator.gather_for_metrics(in_five).sum()",
    ),
    sub(
        r'f"\{name\}_accuracy": float\(correct\) / seen',
        'f"{name}_accuracy": float(correct) / seen, f"{name}_top5": float(correct5) / seen',
    ),
)
kind("confusion matrix", "ultralytics/yolov5:utils/metrics.py", "counted in evaluate, and printed")(
    sub(
        r"^    loss_sum = correct = seen = 0$",
        "    loss_sum = correct = seen = 0\n    confusion = torch.zeros(10, 10)",
    ),
    after(
        GATHERED,
        "confusion += torch.bincount(10 * labels.cpu() + predictions.cpu(), minlength=100).view(10, 10)",
    ),
    before(r"return \{", 'log(f"diagonal of {name}: {int(confusion.diag().sum())}")', "evaluate"),
)
kind("predictions in a list", GLUE, "evaluate keeps all predictions and writes them")(
    sub(
        r"^    loss_sum = correct = seen = 0$",
        "    loss_sum = correct = seen = 0\n    outputs = []",
    ),
    after(GATHERED, "outputs += predictions.tolist()"),
    before(r"return \{", "log(f'{name}: {len(outputs)} predictions, {sum(outputs)}')", "evaluate"),
)
kind("test-time augmentation", TIMM, "the mean of two passes in evaluate")(
    sub(
        r"^( +)logits = model\(images\)$",
        r"\1logits = (model(images) + model(images.flip(-1))) / 2",
    )
)
kind("inference mode", TIMM, "@torch.inference_mode() on evaluate")(
    sub(r"^@torch\.no_grad\(\)$", "@torch.inference_mode()")
)
kind("no_grad as a block", CIFAR, "with torch.no_grad(): in evaluate, no decorator")(
    sub(r"^@torch\.no_grad\(\)\n", ""),
    wrap(
        r"for images, labels in islice\(loader",
        r"for images, labels in islice\(loader",
        "with torch.no_grad():",
        "evaluate",
    ),
)
kind("evaluate with an own keyword", TIMM, "evaluate(..., verbose=True)")(
    sub(r"^def evaluate\((.*)\) ->", r"def evaluate(\1, verbose=False) ->"),
    after(r"model\.train\(\)", "if verbose:\n    log(f'{name}: {seen} samples')", "evaluate"),
    sub(
        r'(metrics \|= evaluate\(accelerator, model, val_loader, "val", config\.limit_batches)\)',
        r"\1, verbose=True)",
    ),
)
kind("evaluate returns a pair", CIFAR, "loss and accuracy are returned beside the metrics")(
    sub(
        r"^def evaluate\((.*)\) -> dict\[str, float\]:",
        r"def evaluate(\1) -> tuple[dict[str, float], int]:",
    ),
    sub(
        r'^    return (\{\s*f"\{name\}_loss"[^}]*\}[^}]*\}[^}]*\})$',
        r"    scores = \1\n    return scores, seen",
    ),
    sub(
        r"^( +)metrics \|= evaluate\((.*)\)$", r"\1scores, seen = evaluate(\2)\n\1metrics |= scores"
    ),
    sub(r"^( +)metrics = evaluate\((.*)\)$", r"\1metrics, seen = evaluate(\2)"),
)
kind("early stop by hand", YOLO, "a count of epochs without progress, and break")(
    before(STEPS, "bad_epochs, best_loss = 0, float('inf')"),
    before(
        EPOCH_LOG,
        'if metrics["val_loss"] < best_loss:\n    bad_epochs, best_loss = 0, metrics["val_loss"]\nelse:\n    bad_epochs += 1',
    ),
    sub(
        r"^(    for epoch in range\(progress\.epoch, config\.epochs\):)$",
        "\\1\n        if bad_epochs > 3:\n            log('no progress')\n            break",
    ),
    decide=["early stopping"],  # two rules for when to stop
)
kind("patience counted from the best", BASE, "not_improved_count by val_accuracy")(
    before(STEPS, "mnt_best, not_improved_count = float('-inf'), 0"),
    after(
        BEST,
        'improved = metrics["val_accuracy"] >= mnt_best\nif improved:\n    mnt_best, not_improved_count = metrics["val_accuracy"], 0\nelse:\n    not_improved_count += 1',
    ),
    decide=["evaluation by steps"],  # the count is of epochs, and would be of evaluations
)
kind("results collected", TIMM, "a list of metrics, written at the end")(
    before(STEPS, "results = []"),
    after(EPOCH_LOG, 'results.append({"epoch": epoch, **metrics})'),
    after(
        DONE,
        'if accelerator.is_main_process:\n    (config.output_dir / "all_results.json").write_text(json.dumps(results))',
    ),
    add_import("import json"),
    decide=["evaluation by steps"],
)
kind("summary as CSV", TIMM, "a row for each epoch")(
    after(
        EPOCH_LOG,
        'if accelerator.is_main_process:\n    with (config.output_dir / "summary.csv").open("a") as table:\n        table.write(f"{epoch},{metrics[\'train_loss\']:.4f}\\n")',
    )
)
kind("lines of JSON by hand", CONVNEXT, "log.txt with a line for each epoch")(
    after(
        EPOCH_LOG,
        'if accelerator.is_main_process:\n    with (config.output_dir / "log.txt").open("a") as file:\n        file.write(json.dumps({**{f"test_{k}": v for k, v in metrics.items()}, "epoch": epoch}) + "\\n")',
    ),
    add_import("import json"),
    decide=["evaluation by steps"],
)

# log lines and trackers

kind("print instead of log", CIFAR, "print() in main")(
    sub(r"^( +)log\(", r"\1print(", None), without_unused_imports(TRAIN)
)
kind("logger", GLUE, "a logger of the standard library")(
    sub(r"^( +)log\(", r"\1logger.info(", None),
    add_import("import logging"),
    sub(r"^@dataclass", "logger = logging.getLogger(__name__)\n\n\n@dataclass"),
    without_unused_imports(TRAIN),
)
kind(
    "logger of Accelerate",
    "huggingface/diffusers:examples/text_to_image/train_text_to_image.py",
    "get_logger beside log",
)(
    add_import("from accelerate.logging import get_logger"),
    sub(r"^@dataclass", "logger = get_logger(__name__)\n\n\n@dataclass"),
    before(
        r"for epoch in range\(",
        'logger.info("***** Running training *****")\nlogger.info(f"  Num Epochs = {config.epochs}")',
        "main",
    ),
)
kind("summary writer", PPO, "SummaryWriter of TensorBoard")(
    add_import("from torch.utils.tensorboard import SummaryWriter"),
    before(STEPS, "writer = SummaryWriter(config.output_dir)"),
    after(VALUES, 'writer.add_scalar("losses/train", values["loss"], progress.step)'),
    before(
        EPOCH_LOG,
        'for key, value in metrics.items():\n    writer.add_scalar(f"epoch/{key}", value, progress.step)',
    ),
    after(DONE, "writer.close()"),
    decide=["evaluation by steps"],
)
kind("wandb by hand", NANO, "wandb.init and wandb.log")(
    add_import("import wandb"),
    before(STEPS, 'wandb.init(project="digits", config=vars(config))'),
    after(EPOCH_LOG, "wandb.log(metrics, step=progress.step)"),
    after(DONE, "wandb.finish()"),
    decide=["evaluation by steps"],
)
kind("wandb in the log line", LLAMA, "wandb.log with a dictionary of its own")(
    add_import("import wandb"),
    after(
        VALUES,
        'wandb.log({"iter": progress.step, "loss/train": values["loss"], "lr": values["lr"]}, step=progress.step)',
    ),
)
kind("wandb if asked for", PPO, "a field track, and an import in main")(
    field("track: bool = False  # with wandb"),
    before(STEPS, 'if config.track:\n    import wandb\n\n    wandb.init(project="digits")'),
    after(EPOCH_LOG, "if config.track:\n    wandb.log(metrics)"),
    decide=["evaluation by steps"],
)
kind("values of the epoch logged by key", YOLO, "to an own tracker")(
    after(
        EPOCH_LOG,
        "if \"val_loss\" in metrics:\n    log(f\"tracked {metrics['val_loss']:.4f} {metrics['val_accuracy']:.4f}\")",
    ),
    decide=["evaluation by steps"],
)
kind("speed of steps", NANO, "time of each step, in milliseconds")(
    before(r"for epoch in range\(", "t0 = time.perf_counter()", "main"),
    after(
        PSTEP,
        "t1 = time.perf_counter()\ndt, t0 = t1 - t0, t1\nif progress.step % 5 == 0:\n    log(f'time {dt * 1000:.2f}ms')",
    ),
)
kind("samples per second", PPO, "SPS at each log line")(
    after(
        VALUES,
        'values["samples/s"] = config.batch_size * progress.step / (time.perf_counter() - start)',
    )
)
kind("log line in another form", NANO, "another text at each step")(
    sub(
        r'line = f"step \{progress\.step\}/\{total_steps\} \| \{format_metrics\(values\)\}"',
        "line = f\"iter {progress.step}: loss {values['loss']:.4f}, lr {values['lr']:.2e}\"",
    )
)
kind("epoch line in another form", CIFAR, "another text for an epoch")(
    replace(
        EPOCH_LOG,
        "log(f\"Epoch: {epoch + 1} | Loss: {metrics['train_loss']:.3f} | \" + format_metrics(metrics))",
    )
)
kind("accuracy in percent", CIFAR, "format_metrics multiplies accuracies")(
    replace(
        r"return ",
        'return " | ".join(\n    f"{name} {100 * value:.2f}%" if name.endswith("accuracy") else f"{name} {value:.5g}"\n    for name, value in metrics.items()\n)',
        "format_metrics",
        path=METRICS,
    )
)
kind("seconds by step deleted", "tinkoff-ai/CORL:algorithms/offline/awac.py", "not in the line")(
    delete(r"seconds = "),
    sub(r" \| s/step \{seconds:\.5g\}", ""),
    delete(r"start, start_step = "),
    without_unused_imports(TRAIN),
)
kind("metrics file not used in the loop", NANO, "the values of steps are not written")(
    delete(r"metrics_file\.append\(progress\.step, values\)")
)
kind("emails the end", "huggingface/knockknock:knockknock/email_sender.py", "notify() behind done")(
    define(
        '''
    def notify(text):
        """Tells the owner."""
        log(f"notify: {text}")
''',
        r"def main\(",
    ),
    after(DONE, 'notify("the run is done")'),
)

# checkpoints and what is kept

kind("own checkpoint by torch.save", CIFAR, "torch.save of a dictionary in each epoch")(
    before(
        EPOCH_LOG,
        'if accelerator.is_main_process:\n    state = {"net": accelerator.unwrap_model(model).state_dict(), "epoch": epoch}\n    torch.save(state, config.output_dir / "ckpt.pt")',
    )
)
kind("own checkpoint every few steps", DDPM, "save_state if the step is a multiple")(
    after(
        PSTEP,
        'if progress.step % 4 == 0:\n    accelerator.save_state(config.output_dir / f"step_{progress.step}")',
    )
)
kind("weights of each epoch", MAE, "save_weights with the number of the epoch")(
    after(
        EPOCH_LOG,
        'save_weights(accelerator, model, config.output_dir / f"epoch_{epoch}.safetensors")',
    )
)
kind("weights as a pickle at the end", IMAGENET, "torch.save beside save_weights")(
    after(
        SAVE,
        'torch.save(accelerator.unwrap_model(model).state_dict(), config.output_dir / "model.pth")',
        "main",
    )
)
kind("tested first, saved then", "artidoro/qlora:qlora.py", "save_weights moves behind the test")(
    delete(SAVE, "main"),
    after(TEST, 'save_weights(accelerator, model, config.output_dir / "model.safetensors")'),
)
kind("pushed to the hub", GLUE, "a field and a call at the end")(
    field("push_to_hub: bool = False  # upload the weights"),
    after(SAVE, "if config.push_to_hub:\n    log('uploading')", "main"),
)
kind("resume refused", REPORTED, "a message if --resume is given")(
    before(RESUME, "if config.resume:\n    log(f'resuming {config.resume}')")
)
kind(
    "checkpoint function by module",
    "allenai/open-instruct:open_instruct/model_utils.py",
    "import checkpoint, and checkpoint.find_checkpoints",
)(
    add_import("import checkpoint"),
    after(RESUME, "log(f'{len(checkpoint.find_checkpoints(config.output_dir))} checkpoints')"),
)
kind("no checkpoints in the loop", "davda54/sam:example/train.py", "no save_if_due")(
    delete(r'if config\.checkpoint_unit == "steps"'), delete(AFTER_EPOCH)
)
kind("one more state in checkpoints", MAE, "an own object is one of the states")(
    define('''
    class Seen:
        """Counts samples, also across a resume."""

        def __init__(self):
            self.samples = 0

        def state_dict(self):
            return {"samples": self.samples}

        def load_state_dict(self, state):
            self.samples = state["samples"]
'''),
    before(r"states = ", "seen = Seen()"),
    sub(r'(states = \{\s*"train_loss": train_loss)', r'\1, "seen": seen'),
    after(r"train_loss\.add\(", "seen.samples += len(labels)"),
    before(DONE, "log(f'seen {seen.samples}')"),
)
kind("own callback class", "karpathy/minGPT:mingpt/trainer.py", "called in each step")(
    before(
        r"class MetricsFile",
        '''class Counter:
    """Counts steps, and says so."""

    def __init__(self) -> None:
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps % 4 == 0:
            log(f"{self.steps} steps")


''',
        path=METRICS,
    ),
    add_import("from metrics import Counter"),
    before(STEPS, "counter = Counter()"),
    after(PSTEP, "counter.step()"),
)
kind("best model by several metrics", YOLO, "a fitness function")(
    define('''
    def fitness(metrics):
        """A weighted sum of metrics."""
        return 0.9 * metrics["val_accuracy"] - 0.1 * metrics["val_loss"]
'''),
    sub(r'best_model\.update\(metrics\["val_accuracy"\]', "best_model.update(fitness(metrics)"),
)
kind("checkpoint.py shows what it saves", DDPM, "a log line in Checkpoints.save")(
    before(
        r"self\.accelerator\.save_state\(",
        "log(f'saving at step {self.progress.step}')",
        "Checkpoints.save",
        path=CHECKPOINT,
    )
)
kind(
    "comments of callbacks.py removed", "tinkoff-ai/CORL:algorithms/offline/lb_sac.py", "none left"
)(
    sub(r"  # always false for NaN$", "", path=CALLBACKS),
    sub(r"  # the first line replaces .*$", "", path=METRICS),
)
