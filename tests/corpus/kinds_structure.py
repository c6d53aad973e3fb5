"""Edits that give the script another shape: functions, classes, files."""

import ast
import re

from corpus.edit import TRAIN, both, commands, create, kind
from corpus.script import add_import, delete, replace, sub
from corpus.structure import (
    around_epochs,
    extract,
    move,
    one_import_a_line,
    rename,
    split_method,
    trainer_class,
    without_unused_imports,
)

MAE, TIMM, CIFAR, IMAGENET = (
    "facebookresearch/mae:engine_pretrain.py",
    "huggingface/pytorch-image-models:train.py",
    "kuangliu/pytorch-cifar:main.py",
    "pytorch/examples:imagenet/main.py",
)
CONVNEXT = "facebookresearch/ConvNeXt:engine.py"
TEMPLATE = "victoresque/pytorch-template:trainer/trainer.py"
DDPM = "lucidrains/denoising-diffusion-pytorch:denoising_diffusion_pytorch/denoising_diffusion_pytorch.py"
MINGPT = "karpathy/minGPT:mingpt/trainer.py"

BATCHES = r"(for images, labels in bar|while window)"
METRICS = r'metrics = \{"train_loss"'
LOG = r"if config\.log_every and"
LOSS = r"loss = compute_loss\("
TRAIN_EPOCH = extract("train_one_epoch", r"model\.train\(\)", BATCHES, "Trains for one epoch.")

kind("one epoch as a function", MAE, "the body of an epoch becomes train_one_epoch()")(TRAIN_EPOCH)
kind("one epoch as a function in a file of its own", CONVNEXT, "engine.py, with evaluate()")(
    TRAIN_EPOCH, move(("train_one_epoch", "evaluate"), "engine.py", "Training and evaluation.")
)
kind("batches of an epoch as a function", IMAGENET, "only the loop over batches becomes train()")(
    extract("train", r"bar = progress_bar\(", BATCHES, "All batches of an epoch.")
)
kind("end of an epoch as a function", TEMPLATE, "end_epoch()")(
    extract(
        "end_epoch",
        METRICS,
        r'if config\.checkpoint_unit == "epochs"',
        "Evaluates, logs and saves.",
    )
)
kind("validation and best model as a function", CONVNEXT, "validate()")(
    extract("validate", METRICS, r'log\(f"epoch ', "Evaluates an epoch.")
)
kind("forward pass as a function", "ultralytics/yolov5:train.py", "forward_step()")(
    extract("forward_step", LOSS, r"train_loss\.add\(", "The loss of a batch, counted.")
)
kind("forward and backward pass as a function", TIMM, "from the loss on")(
    extract("forward_backward", LOSS, r"accelerator\.backward\(", "One batch.")
)
kind("rate of all groups as a function", "facebookresearch/mae:util/lr_sched.py", "adjusted")(
    extract("adjust_learning_rate", r"schedule\.step\(\)", r"schedule\.step\(\)", "Sets the rates.")
)
kind("log line as a function", "ultralytics/yolov5:train.py", "log_step()")(
    extract("log_step", LOG, LOG, "Logs a step.")
)
kind("test at the end as a function", "davda54/sam:example/train.py", "final_test()")(
    extract("final_test", r"best_model\.load\(", r"metrics_file\.append\(", "Tests the best.")
)
kind("everything built in a function", "karpathy/llama2.c:train.py", "build_all()")(
    extract(
        "build_all",
        r"train_loader, val_loader, test_loader = build_loaders",
        r"optimizer = build_optimizer",
        "Loaders, model and optimizer.",
    )
)
kind(
    "prepare in a function",
    "huggingface/diffusers:examples/text_to_image/train_text_to_image.py",
    "from the loaders to prepare() as setup()",
)(
    extract(
        "setup",
        r"train_loader, val_loader, test_loader = build_loaders",
        r"model, optimizer, train_loader",
        "What is trained, prepared.",
    )
)
kind("bookkeeping in a function", "allenai/open-instruct:open_instruct/finetune.py", "states")(
    extract("build_state", r"progress = Progress", r"checkpoints = Checkpoints\(", "States.")
)
kind("Trainer class", DDPM, "main() becomes a class with self.")(trainer_class())
kind("Trainer class with a method for each part", TEMPLATE, "of an epoch and its end")(
    trainer_class(fit="train"),
    split_method("_valid_epoch", METRICS, r"self\.metrics_file\.append\(", "train", "epoch"),
)
kind("Trainer class without a constructor", MINGPT, "setup(), run(), finish()")(
    trainer_class("Learner", "setup", "run")
)
kind("Trainer class in a file of its own", TEMPLATE, "trainer.py, with what it uses")(
    trainer_class(), move(("Trainer",), "trainer.py", "The trainer.")
)
kind("evaluation in another file", "facebookresearch/mae:engine_finetune.py", "with the loss")(
    move(("evaluate",), "evaluation.py", "Evaluation.")
)
kind("loss in another file", "davda54/sam:example/model/smooth_cross_entropy.py", "losses.py")(
    move(("compute_loss",), "losses.py", "Losses.")
)
kind("schedule in another file", "facebookresearch/mae:util/lr_sched.py", "lr_sched.py")(
    move(("build_schedule",), "lr_sched.py", "The learning rate.")
)
kind("all helpers in utils.py", "kuangliu/pytorch-cifar:utils.py", "loss, optimizer, schedule")(
    move(("build_schedule", "build_optimizer", "compute_loss"), "utils.py", "Helpers.")
)
kind(
    "main called without the interrupt's explanation",
    "huggingface/accelerate:examples/nlp_example.py",
    "the with around main() goes",
)(
    replace(r"if __name__", 'if __name__ == "__main__":\n    main(parse_config(__doc__))\n', ""),
    without_unused_imports(TRAIN),
)
kind("keyboard interrupt caught", TIMM, "the epochs are in try and except KeyboardInterrupt")(
    around_epochs("try:", "except KeyboardInterrupt:\n    log('interrupted')")
)
kind("loop in try and finally", "vwxyzjn/cleanrl:cleanrl/dqn.py", "something is closed")(
    around_epochs("try:", "finally:\n    log(f'left the loop at step {progress.step}')")
)
kind("loop in a profiler", "huggingface/accelerate:examples/by_feature/profiler.py", "of torch")(
    around_epochs("with torch.profiler.profile() as prof:")
)
kind(
    "epochs counted in a while loop",
    "lucidrains/denoising-diffusion-pytorch:denoising_diffusion_pytorch/denoising_diffusion_pytorch_1d.py",
    "while epoch < epochs, with the count at the end",
)(
    sub(
        r"^    for epoch in range\(progress\.epoch, config\.epochs\):$",
        "    while progress.epoch < config.epochs:\n        epoch = progress.epoch",
    )
)
kind("training until a number of steps", "karpathy/nanoGPT:train.py", "while True, and a break")(
    sub(
        r"^    for epoch in range\(progress\.epoch, config\.epochs\):$",
        "    epoch = progress.epoch - 1\n    while True:\n        epoch += 1\n        if epoch >= config.epochs:\n            break",
    )
)
kind("batches with enumerate", CIFAR, "for step, (images, labels) in enumerate(bar)")(
    sub(r"for images, labels in bar:$", "for batch_idx, (images, labels) in enumerate(bar):")
)
kind("batch unpacked in the loop", "huggingface/accelerate:examples/cv_example.py", "below")(
    sub(r"^( +)for images, labels in bar:$", r"\1for batch in bar:\n\1    images, labels = batch")
)
kind("batches of an iterator", MINGPT, "the batches come from iter() and next() in a while loop")(
    sub(
        r"^( +)for images, labels in bar:$",
        r"\1data_iter = iter(bar)\n\1while (batch := next(data_iter, None)) is not None:\n\1    images, labels = batch",
    )
)
kind("no progress bar", "huggingface/accelerate:examples/nlp_example.py", "a loop without one")(
    replace(r"bar = progress_bar\(", "bar = islice(batches, batches_per_epoch - progress.batch)"),
    delete(r"bar\.set_postfix\("),
    without_unused_imports(TRAIN),
)
kind(
    "plain tqdm",
    "huggingface/transformers:examples/pytorch/text-classification/run_glue_no_trainer.py",
    "tqdm() of its own instead of progress_bar()",
)(
    replace(
        r"bar = progress_bar\(",
        "bar = tqdm(islice(batches, batches_per_epoch - progress.batch), disable=True)",
    ),
    add_import("from tqdm.auto import tqdm"),
    without_unused_imports(TRAIN),
)
kind("early exit instead of a nested block", TIMM, "a name for the condition")(
    sub(
        r"^( +)if config\.log_every and progress\.step % config\.log_every == 0:$",
        r"\1log_now = config.log_every and progress.step % config.log_every == 0\n\1if log_now:",
    )
)
kind("functions nested in main", IMAGENET, "a helper")(
    sub(
        r"^    checkpoints\.resume\(\)$",
        '    checkpoints.resume()\n\n    def say(text: str) -> None:\n        log(f"[{progress.step}] {text}")\n\n    say("ready")',
    )
)
kind("other entry point", "facebookresearch/mae:main_finetune.py", "main.py calls train.main()")(
    create(
        "main.py",
        '''
        """The entry point."""

        import train
        from config import parse_config

        if __name__ == "__main__":
            train.main(parse_config(__doc__))
        ''',
    )
)
kind("tested model in a script of its own", "karpathy/nanoGPT:sample.py", "which loads weights")(
    create(
        "sample.py",
        '''
        """Classify some digits with the trained weights."""

        import torch
        from accelerate import Accelerator

        from data import build_loaders
        from weights import load_weights
        from model import build_model
        from train import Config, evaluate

        config = Config()
        accelerator = Accelerator()
        model = accelerator.prepare(build_model(config))
        load_weights(accelerator, model, config.output_dir / "model.safetensors")
        with torch.no_grad():
            print(evaluate(accelerator, model, build_loaders(config)[2], "test", 0))
        ''',
    )
)
kind("helpers as a mixin class", TEMPLATE, "evaluate() becomes a static method of a class")(
    sub(
        r"^def main\(",
        "class Evaluator:\n    run = staticmethod(evaluate)\n\n\ndef main(",
    ),
    sub(r"= evaluate\(", "= Evaluator.run(", None),
)
kind("main renamed", "vwxyzjn/cleanrl:cleanrl/ppo.py", "main() is called train()")(
    rename("main", "train", TRAIN)
)
kind("evaluate renamed", TIMM, "evaluate() is called validate()")(
    rename("evaluate", "validate", TRAIN)
)
kind("compute_loss renamed", CIFAR, "compute_loss() is called criterion()")(
    rename("compute_loss", "criterion", TRAIN)
)
kind("model renamed", CIFAR, "model is called net in main")(
    rename("model", "net", TRAIN, function="main")
)
kind("config renamed", TIMM, "args in train.py")(rename("config", "args", TRAIN))
kind("config shortened", MINGPT, "config is called cfg in main")(
    rename("config", "cfg", TRAIN, function="main")
)
kind("images and labels renamed", CIFAR, "inputs and targets in main and evaluate")(
    rename("images", "inputs", TRAIN), rename("labels", "targets", TRAIN)
)
kind("images and labels as x and y", "karpathy/nanoGPT:train.py", "x and y in the loop")(
    rename("images", "x", TRAIN, function="main"), rename("labels", "y", TRAIN, function="main")
)
kind(
    "loaders renamed",
    "huggingface/transformers:examples/pytorch/text-classification/run_glue_no_trainer.py",
    "train_dataloader and eval_dataloader",
)(rename("train_loader", "train_dataloader", TRAIN), rename("val_loader", "eval_dataloader", TRAIN))
kind("Config renamed", "vwxyzjn/cleanrl:cleanrl/ppo.py", "the class is called Args")(
    rename("Config", "Args", TRAIN)
)
kind("progress renamed", TEMPLATE, "progress is called state")(
    rename("progress", "state", TRAIN, function="main")
)
kind("module instead of names", CIFAR, "callbacks.BestModel")(
    sub(r"^from callbacks import (\(\n)?[^)\n]*\n?(    .*\n)*\)?\n?", "import callbacks\n"),
    sub(
        r"(?<![\w.])(BestModel|MetricsFile|Ema|EarlyStopping|PredictionsFile)\(",
        r"callbacks.\1(",
        None,
    ),
)
kind("star imports", CIFAR, "of all own modules")(
    sub(
        r"^from (callbacks|checkpoint|metrics|progress) import (\((\n    .*)*\n\)|.*)$",
        r"from \1 import *",
        None,
    )
)
kind("one import a line", "google-research/big_vision:big_vision/train.py", "one for each name")(
    one_import_a_line
)
kind("imports unsorted", "davda54/sam:example/train.py", "own modules first, then torch")(
    lambda files: _own_modules_first(files)
)
kind("package in src", "Lightning-AI/litgpt:litgpt/pretrain.py", "all files of Python are in src/")(
    lambda files: _into(files, "src/", ""),
    also=[both(lambda files: _into(files, "src/", ""), commands("src/train.py"))],
)
kind("package with a name", "victoresque/pytorch-template:train.py", "with the modules")(
    lambda files: _into(files, "digits/", "digits.")
)


def _own_modules_first(files: dict[str, str]) -> None:
    text = files[TRAIN]
    lines = text.splitlines()
    nodes = [n for n in ast.parse(text).body if isinstance(n, ast.Import | ast.ImportFrom)]
    blocks = ["\n".join(lines[n.lineno - 1 : n.end_lineno]) for n in nodes]
    own = [b for b in blocks if f"{b.split()[1]}.py" in files]
    rest = [b for b in blocks if b not in own]
    start, end = nodes[0].lineno - 1, nodes[-1].end_lineno
    files[TRAIN] = "\n".join([*lines[:start], *own, *rest, *lines[end:]]) + "\n"


def _into(files: dict[str, str], folder: str, package: str) -> None:
    """All modules move into a folder; with a package, all but train.py, with its name."""
    modules = [p for p in files if p.endswith(".py") and "/" not in p]
    if package:
        modules.remove(TRAIN)
    names = "|".join(path.removesuffix(".py") for path in modules)
    for path in list(files):
        if package and path.endswith(".py"):
            pattern = rf"(?m)^(\s*)from ({names}) import"
            files[path] = re.sub(pattern, rf"\1from {package}\2 import", files[path])
            pattern = rf"(?m)^import ({names})$"
            files[path] = re.sub(pattern, rf"from {package[:-1]} import \1", files[path])
    for path in modules:
        text = files.pop(path)
        # the project's own file, one folder up now
        text = text.replace('Path(__file__).with_name("pyproject.toml")', 'Path("pyproject.toml")')
        files[folder + path] = text
    if package:
        files[folder + "__init__.py"] = ""
