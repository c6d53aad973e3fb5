"""Edits of settings: where they come from, and which there are."""

from corpus.edit import CONFIG, DATA, REPORTED, TRAIN, create, everywhere, field, kind, nothing
from corpus.script import add_import, after, before, delete, sub
from corpus.structure import without_unused_imports

TIMM, CLEANRL, NANO, LLAMA = (
    "huggingface/pytorch-image-models:train.py",
    "vwxyzjn/cleanrl:cleanrl/ppo.py",
    "karpathy/nanoGPT:train.py",
    "karpathy/llama2.c:train.py",
)


kind("Config with tyro", CLEANRL, "tyro.cli() reads the flags")(
    sub(r"parse_config\(__doc__\)", "tyro.cli(Config)"),
    add_import("import tyro"),
    without_unused_imports(TRAIN),
)
kind("constants beside Config", LLAMA, "upper-case constants at the top of the file, used in main")(
    sub(r"^@dataclass\(frozen=True\)$", "WARN_ABOVE = 4.0\nSHOW = 3\n\n\n@dataclass(frozen=True)"),
    after(
        r"loss = compute_loss\(",
        "if loss > WARN_ABOVE and progress.step < SHOW:\n    log('a high loss')",
    ),
)
kind("configurator that runs a file", "karpathy/nanoGPT:configurator.py", "it may set defaults")(
    sub(
        r"^    config = parse_config\(__doc__\)$",
        "    config = parse_config(__doc__)\n    for name, value in OVERRIDES.items():\n        object.__setattr__(config, name, value)",
    ),
    create("overrides.py", "OVERRIDES = {'weight_decay': 0.1}\n"),
    add_import("from overrides import OVERRIDES"),
)
kind("Config not frozen", "tinkoff-ai/CORL:algorithms/offline/cql.py", "@dataclass without frozen")(
    sub(r"^@dataclass\(frozen=True\)$", "@dataclass")
)
kind("Config read by name", "allenai/open-instruct:open_instruct/finetune.py", "by getattr")(
    after(
        r"log\(describe\(",
        'for name in ("learning_rate", "max_grad_norm", "warmup_ratio"):\n    log(f"{name}: {getattr(config, name)}")',
    )
)
kind("Config printed as a table", CLEANRL, "all settings are printed as Markdown")(
    after(
        r"log\(describe\(",
        'log("|param|value|\\n|-|-|\\n" + "\\n".join(f"|{k}|{v}|" for k, v in vars(config).items() if k != "resume"))',
    )
)
kind("Config made in a script of its own", "vwxyzjn/cleanrl:cleanrl_utils/tuner.py", "a sweep")(
    create(
        "sweep.py",
        '''
        """Several learning rates, one after the other."""

        from pathlib import Path

        from train import Config, main

        if __name__ == "__main__":
            for rate in (0.001, 0.003):
                main(Config(learning_rate=rate, max_grad_norm=0.5, output_dir=Path(f"runs/{rate}")))
        ''',
    ),
    decide=["no clipping", "clipping of values"],
)
kind("three more fields", CLEANRL, "fields with comments, used in the loop")(
    field(
        "print_freq: int = 2  # batches between own lines\nown_scale: float = 1.0  # of the loss\nexp_name: str = 'exp'  # of this run"
    ),
    after(
        r"train_loss\.add\(",
        "if progress.batch % config.print_freq == 0:\n    log(f'{config.exp_name}: {float(loss) * config.own_scale:.3f}')",
    ),
)
kind("field at the end", "tinkoff-ai/CORL:algorithms/offline/any_percent_bc.py", "a last field")(
    field("tag: str = ''  # for the log", "resume"),
    after(r"log\(describe\(", "log(f'tag {config.tag}')"),
)
kind("field between those of clipping and schedule", TIMM, "a field beside max_grad_norm")(
    field("clip_mode: str = 'norm'  # norm, value, agc", "keep_checkpoints"),
    after(r"log\(describe\(", "log(f'clip mode {config.clip_mode}')"),
)
kind("field with a list", "facebookresearch/ConvNeXt:main.py", "a field with a default factory")(
    field("layers: list[int] = dataclasses.field(default_factory=lambda: [1, 2])  # to watch"),
    add_import("import dataclasses"),
    sub(r"parse_config\(__doc__\)", "Config()"),
    without_unused_imports(TRAIN),
)
kind("rate changed", NANO, "another learning rate")(
    sub(r"^(    learning_rate: float = )[\d.]+", r"\g<1>0.0006")
)
kind("weight decay changed", NANO, "0.1, and its comment")(
    sub(r"^    weight_decay: float = .*", "    weight_decay: float = 0.05  # as in the paper")
)
kind("clipping changed", TIMM, "another norm")(
    sub(r"^(    max_grad_norm: float = )[\d.]+", r"\g<1>3.0")
)
kind("warm-up changed", LLAMA, "a longer warm-up")(
    sub(r"^(    warmup_ratio: float = )[\d.]+", r"\g<1>0.3")
)
kind("output folder with the date", LLAMA, "the folder's name has a time")(
    sub(r'Path\("runs/latest"\)  #', 'Path("runs") / "own"  #')
)
kind("comments of Config removed", "davda54/sam:example/train.py", "none behind fields")(
    sub(r"^(    \w+: [^#\n]*?)  # .*$", r"\1", None)
)
kind("comments of Config in French", REPORTED, "some comments are translated")(
    sub(r"# passes over the training data", "# nombre d'époques"),
    sub(r"# samples per batch on each process", "# taille du lot par processus"),
    sub(
        r"# stop after this many steps; 0: after the last epoch",
        "# arrêt après tant de pas ; 0 : à la fin",
    ),
)
kind("fields in two groups with headings", NANO, "comment lines between fields")(
    before(r"epochs: ", "# data and duration", "Config"),
    before(r"log_every: ", "# logging and checkpoints", "Config"),
    before(r"output_dir: ", "# where results go", "Config"),
)
kind("field deleted", "davda54/sam:example/train.py", "no num_workers")(
    delete(r"num_workers: ", "Config"),
    sub(r"^ +num_workers=config\.num_workers,\n", "", None, path=DATA),
    sub(r'^ +"num_workers": config\.num_workers,\n', "", None, path=DATA),
    without_unused_imports(DATA),
)
kind("field renamed", CLEANRL, "learning_rate is called lr")(
    everywhere(r"\bconfig\.learning_rate\b", "config.lr"),
    sub(r"^    learning_rate: ", "    lr: "),
    sub(r'"learning_rate": ', '"lr": ', path=CONFIG),
)
kind("field of clipping renamed", NANO, "max_grad_norm is called grad_clip")(
    sub(r"\bmax_grad_norm\b", "grad_clip", None), also=[nothing]
)
