"""Edits of how files look, and of files that are no Python."""

import io
import re
import tokenize

from corpus.edit import (
    CALLBACKS,
    REPORTED,
    TRAIN,
    CannotEdit,
    Files,
    append,
    both,
    commands,
    create,
    kind,
)
from corpus.script import sub
from corpus.structure import formatted, move_below


def on_python(change):
    def apply(files: Files) -> None:
        for path in files:
            if path.endswith(".py") and not path.startswith("tests/"):
                files[path] = change(files[path])

    return apply


def half(text: str) -> str:
    return re.sub("(?m)^ +", lambda match: match[0][::2], text)


def single(text: str) -> str:
    """Strings in single quotes, where nothing has to be escaped for that."""
    lines = text.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        if token.type == tokenize.STRING and re.fullmatch(r'"[^"\'\\{}\n]*"', token.string):
            (row, start), (_, end) = token.start, token.end
            lines[row - 1] = f"{lines[row - 1][:start]}'{token.string[1:-1]}'{lines[row - 1][end:]}"
    return "".join(lines)


def no_docstrings(files: Files) -> None:
    files[TRAIN], made = re.subn(r'(?m)^    """[^"]*"""\n', "", files[TRAIN])
    if not made:
        raise CannotEdit("no docstrings")


GLUE = "huggingface/transformers:examples/pytorch/text-classification/run_glue_no_trainer.py"

kind("lines of 79 characters", "ufoym/imbalanced-dataset-sampler:setup.cfg", "black, 79 wide")(
    formatted(length=79)
)
kind("lines of 120 characters", "huggingface/diffusers:pyproject.toml", "black with a longer line")(
    formatted(length=120)
)
kind("single quotes", "huggingface/pytorch-image-models:train.py", "strings in single quotes")(
    on_python(single)
)
kind("two spaces", "google-research/vision_transformer:vit_jax/train.py", "indented by two spaces")(
    on_python(half)
)
kind("tabs", "openai/finetune-transformer-lm:train.py", "indentation by tabs")(
    on_python(
        lambda text: re.sub(
            "(?m)^ +", lambda m: "\t" * (len(m[0]) // 4) + " " * (len(m[0]) % 4), text
        )
    )
)
kind("Windows newlines", "eriklindernoren/PyTorch-GAN:implementations/gan/gan.py", "in all files")(
    lambda files: files.update({p: t.replace("\n", "\r\n") for p, t in files.items()})
)
kind("byte order mark", REPORTED, "train.py begins with a BOM")(sub(r'\A"""', '\ufeff"""'))
kind("latin-1 with a cookie", REPORTED, "a coding line, and an umlaut in a comment")(
    sub(r'\A"""', '# -*- coding: latin-1 -*-\n"""'),
    sub(r"# passes over the training data", "# Durchläufe über die Daten"),
)
kind("no blank lines in main", "davda54/sam:example/train.py", "none inside of functions")(
    on_python(lambda text: re.sub(r"\n\n( +\S)", r"\n\1", text))
)
kind("more blank lines in main", "karpathy/nanoGPT:train.py", "one above comments and loops")(
    sub(
        r"^( {8}metrics = |        for images, labels in bar:$|        remaining = )", r"\n\1", None
    )
)
kind("docstrings removed", "tinkoff-ai/CORL:algorithms/offline/any_percent_bc.py", "of functions")(
    no_docstrings
)
kind("docstring of the file replaced", "karpathy/llama2.c:train.py", "the owner's commands")(
    sub(
        r'\A"""Train an image classifier on scikit-learn\'s handwritten digits\.$',
        '"""Our digits, on the cluster.\n\n$ torchrun --standalone --nproc_per_node=4 train.py',
    )
)
kind("license at the top", "facebookresearch/mae:main_pretrain.py", "a copyright first")(
    sub(r'\A"""', '# Copyright (c) the owners.\n# All rights reserved.\n\n"""')
)
kind("evaluate below main", "huggingface/pytorch-image-models:train.py", "a function moves")(
    move_below(r"@torch\.no_grad\(\) def evaluate", r"def main\(")
)
kind("type hints removed", "davda54/sam:example/train.py", "no annotations of arguments")(
    sub(r"(def \w+\(.*\)) -> [^:]+:$", r"\1:", None),
    sub(r"def compute_loss\(logits: Tensor, labels: Tensor", "def compute_loss(logits, labels"),
)
kind("comments of callbacks.py translated", REPORTED, "docstrings in another language")(
    sub(
        r'"""Saves the weights with the best score so far\. Higher is better\."""',
        '"""Sichert die Gewichte mit dem besten Wert."""',
        path=CALLBACKS,
    ),
    sub(r'"""The loss of each sample, shape \(batch,\)\.(.*)"""', '"""Verlust je Beispiel."""'),
)
kind("pragma comments", GLUE, "# noqa and # type: ignore")(
    sub(r"^(import torch\.nn\.functional as F)$", r"\1  # noqa: N812"),
    sub(r"^(    optimizer = build_optimizer\(model, config\))$", r"\1  # type: ignore"),
)
kind("guarded import", "huggingface/pytorch-image-models:train.py", "it may be missing")(
    sub(
        r"^@dataclass",
        "try:\n    import apex\n\n    has_apex = True\nexcept ImportError:\n    has_apex = False\n\n\n@dataclass",
    )
)
kind("environment variables at the top", REPORTED, "os.environ in front of torch's import")(
    sub(r"^import time$", "import os\nimport time"),
    sub(r"^import torch$", 'os.environ["TOKENIZERS_PARALLELISM"] = "false"\nimport torch'),
)
kind("global switches of torch", "karpathy/nanoGPT:train.py", "TF32 and cuDNN at the head of main")(
    sub(
        r"^(    accelerator = Accelerator\()$",
        "    torch.backends.cuda.matmul.allow_tf32 = True\n    torch.backends.cudnn.benchmark = True\n"
        + r"\1",
    )
)
kind("seeds by hand", "vwxyzjn/cleanrl:cleanrl/ppo.py", "random, numpy and torch are seeded")(
    sub(r"^import time$", "import random\nimport time"),
    sub(r"^import torch$", "import numpy as np\nimport torch"),
    sub(
        r"^(    set_seed\(config\.seed\)  # every.*)$",
        r"\1"
        + "\n    random.seed(config.seed)\n    np.random.seed(config.seed)\n    torch.manual_seed(config.seed)",
    ),
)
kind(
    "kwargs of the accelerator",
    "huggingface/accelerate:examples/by_feature/ddp_comm_hook.py",
    "another argument of Accelerator",
)(
    sub(
        r"^    accelerator = Accelerator\($",
        "    accelerator = Accelerator(\n        step_scheduler_with_optimizer=False,",
    )
)
kind("accelerator in one line", "huggingface/accelerate:examples/cv_example.py", "as a variable")(
    sub(r"^ +# the data order depends only on .*\n", "")
)
kind("README of the owner", "karpathy/nanoGPT:README.md", "a text of its own")(
    create("README.md", "# digits\n\nOurs. Start with `python train.py`.\n")
)
kind("README with a section", "kuangliu/pytorch-cifar:README.md", "results at the end")(
    append("README.md", "\n## Accuracy\n\n| Model | Acc. |\n| --- | --- |\n| CNN | 93 % |\n")
)
kind("more dependencies", "huggingface/accelerate:examples/requirements.txt", "one of them")(
    sub(r"^dependencies = \[$", 'dependencies = [\n    "einops>=0.8",', path="pyproject.toml")
)
kind("settings of isort in pyproject.toml", "Lightning-AI/litgpt:pyproject.toml", "an own section")(
    append("pyproject.toml", "\n[tool.isort]\nline_length = 119\n")
)
kind("more ignored files", "karpathy/nanoGPT:.gitignore", "lines in .gitignore")(
    append(".gitignore", "wandb/\n*.pt\n")
)
kind("own job script", "facebookresearch/mae:submitit_pretrain.py", "train.sbatch of the owner")(
    create(
        "train.sbatch",
        "#!/bin/bash\n#SBATCH --job-name=digits\n#SBATCH --gres=gpu:1\nsrun python train.py\n",
    )
)
kind("lines of #SBATCH", "facebookresearch/ConvNeXt:TRAINING.md", "more options in the job script")(
    sub(
        r"\A(#!.*\n)", r"\1#SBATCH --partition=own\n#SBATCH --exclude=node7\n", path="train.sbatch"
    ),
    decide=["SLURM's partition"],
)
kind("own Dockerfile", "ultralytics/yolov5:utils/docker/Dockerfile", "Dockerfile of the owner")(
    create(
        "Dockerfile",
        'FROM python:3.11\nWORKDIR /app\nCOPY . .\nRUN pip install .\nCMD ["python", "train.py"]\n',
    )
)
kind("own notebook", "ultralytics/yolov5:tutorial.ipynb", "train.ipynb of the owner")(
    create("train.ipynb", '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n')
)
kind("own mixing.py", "facebookresearch/mixup-cifar10:train.py", "a name that an update brings")(
    create(
        "mixing.py",
        '"""Ours: blends of two images."""\n\n\ndef mixup(images, lam):\n    return lam * images + (1 - lam) * images.flip(0)\n',
    )
)
kind(
    "own optimizers.py",
    "KellerJordan/modded-nanogpt:records/track_1_short/2024-10-10_Muon/train_gpt2.py",
    "a module with a name that an update brings",
)(create("optimizers.py", '"""Ours."""\n\n\ndef halve(rate):\n    return rate / 2\n'))
kind("own parameter_groups.py", "facebookresearch/ConvNeXt:optim_factory.py", "an incoming name")(
    create(
        "parameter_groups.py",
        '"""Ours."""\n\n\ndef by_depth(model):\n    return [list(model.parameters())]\n',
    )
)
kind("own shell script", "facebookresearch/ConvNeXt:TRAINING.md", "run.sh with two runs")(
    create(
        "run.sh",
        "python train.py --max-grad-norm 0.5 --output-dir runs/a\npython train.py --seed 1 --output-dir runs/b\n",
    ),
    decide=["no clipping", "clipping of values"],  # the flag is gone
)
kind("own workflow", "vwxyzjn/cleanrl:.github/workflows/tests.yaml", "of continuous integration")(
    create(
        ".github/workflows/test.yml",
        "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: pytest\n",
    )
)
kind("own tests", "pytorch/examples:run_python_examples.sh", "a test of the loss")(
    create(
        "tests/test_own.py",
        '"""Ours."""\n\nimport torch\n\nfrom train import compute_loss\n\n\ndef test_loss():\n    assert compute_loss(torch.zeros(2, 10), torch.zeros(2, dtype=torch.long)).shape == (2,)\n',
    )
)
kind("tests deleted", "karpathy/nanoGPT:train.py", "tests/ goes")(
    lambda files: [files.pop(path) for path in list(files) if path.startswith("tests/")] and None
)
kind(
    "launch file changed",
    "huggingface/accelerate:examples/config_yaml_templates/multi_gpu.yaml",
    "another number of processes",
)(sub(r"^num_processes: 1", "num_processes: 2  # ours", path="accelerate.yaml"))
kind("model file renamed", "karpathy/minGPT:mingpt/model.py", "model.py is called net.py")(
    lambda files: _renamed(files, "model", "net")
)
kind("callbacks renamed", "victoresque/pytorch-template:trainer/trainer.py", "another file")(
    lambda files: _renamed(files, "callbacks", "own_callbacks")
)
kind("script renamed", "facebookresearch/mae:main_pretrain.py", "train.py is called main_train.py")(
    lambda files: files.update({"main_train.py": files.pop(TRAIN)}),
    also=[
        both(
            lambda files: files.update({"main_train.py": files.pop(TRAIN)}),
            commands("main_train.py"),
        )
    ],
)


def _renamed(files: Files, old: str, new: str) -> None:
    files[f"{new}.py"] = files.pop(f"{old}.py")
    for path in files:
        if path.endswith(".py"):
            files[path] = re.sub(
                rf"(?m)^(\s*)from {old} import", rf"\1from {new} import", files[path]
            )
