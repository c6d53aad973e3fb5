"""Edits of settings: where they come from, and which there are."""

import ast
import json
import re
import textwrap

from corpus.edit import (
    DATA,
    REPORTED,
    TRAIN,
    Files,
    add_import,
    after,
    before,
    both,
    create,
    delete,
    everywhere,
    field,
    find,
    kind,
    nothing,
    rows,
    splice,
    sub,
)
from corpus.structure import (
    Field,
    fields,
    formatted,
    instead_of_config,
    move,
    without_unused_imports,
)

TIMM, CLEANRL, NANO, LLAMA = (
    "huggingface/pytorch-image-models:train.py",
    "vwxyzjn/cleanrl:cleanrl/ppo.py",
    "karpathy/nanoGPT:train.py",
    "karpathy/llama2.c:train.py",
)
RUN_CLM = "huggingface/transformers:examples/pytorch/language-modeling/run_clm_no_trainer.py"
PATHS = {"output_dir"}


def plain(row: Field) -> str:
    """The value as it stands in YAML, JSON or a dictionary: no path."""
    return re.sub(r"Path\((.*)\)", r"\1", row.value)


def argparse_parser(found: list[Field]) -> str:
    lines = ["def parse_args():", "    parser = argparse.ArgumentParser(description=__doc__)"]
    for row in found:
        kind_of = row.type if row.type in ("int", "float", "str", "Path") else "str"
        text = row.comment.replace("%", "%%")
        name = row.name
        lines.append(
            f'    parser.add_argument("--{name}", type={kind_of}, default={row.value}, help="{text}")'
        )
    return "\n".join([*lines, "    return parser.parse_args()"])


def in_groups(found: list[Field]) -> str:
    lines = ["parser = argparse.ArgumentParser(description=__doc__)"]
    lines.append('group = parser.add_argument_group("training parameters")')
    for row in found:
        kind_of = row.type if row.type in ("int", "float", "str", "Path") else "str"
        flag = f"--{row.name.replace('_', '-')}"
        text = row.comment.replace("%", "%%")
        lines.append(
            f'group.add_argument("{flag}", default={row.value}, type={kind_of}, help="{text}")'
        )
    return "\n".join(lines)


def namespace(found: list[Field]) -> str:
    lines = [f"    {row.name}={row.value},  # {row.comment}" for row in found]
    return "\n".join(["CONFIG = SimpleNamespace(", *lines, ")"])


def class_of_constants(found: list[Field]) -> str:
    lines = [f"    {row.name} = {row.value}  # {row.comment}" for row in found]
    return "\n".join(["class Config:", *lines])


def dictionary(found: list[Field]) -> str:
    lines = [f'    "{row.name}": {row.value},  # {row.comment}' for row in found]
    return "\n".join(["DEFAULTS = {", *lines, "}"])


def constants(found: list[Field]) -> str:
    lines = [f"{row.name} = {row.value}  # {row.comment}" for row in found]
    names = ", ".join(f"{row.name}={row.name}" for row in found)
    return "\n".join([*lines, "", "", f"CONFIG = SimpleNamespace({names})"])


def named_tuple(found: list[Field]) -> str:
    lines = [f"    {row.name}: {row.type} = {row.value}  # {row.comment}" for row in found]
    return "\n".join(["class Config(NamedTuple):", *lines])


def with_docstrings(found: list[Field]) -> str:
    lines = ["@dataclass", "class Config:"]
    for row in found:
        lines += [f"    {row.name}: {row.type} = {row.value}", f'    """{row.comment}"""']
    return "\n".join(lines)


def in_file(path: str, form: str):
    """The values go into a file, and the script reads it."""

    def write(files: Files) -> None:
        found = fields(files[TRAIN])
        if form == "yaml":
            lines = [f"{row.name}: {plain(row)}" for row in found]
            files[path] = "\n".join(lines) + "\n"
        else:
            values = {row.name: ast.literal_eval(plain(row)) for row in found}
            files[path] = json.dumps(values, indent=2) + "\n"

    return write


READ = '''
def read_config(path):
    """The settings of a file."""
    values = {loader}
    values["output_dir"] = Path(values["output_dir"])
    return SimpleNamespace(**values)
'''
NAMESPACE = both(
    add_import(TRAIN, "from types import SimpleNamespace"), without_unused_imports(TRAIN)
)

kind(
    "Config with argparse",
    RUN_CLM,
    "parse_args() with an argument for each field",
    instead_of_config(argparse_parser, "parse_args()"),
    add_import(TRAIN, "import argparse"),
    without_unused_imports(TRAIN),
)
kind(
    "Config with argparse, and args everywhere",
    TIMM,
    "a parser at the top of the file with groups, and args in place of config",
    instead_of_config(in_groups, "parser.parse_args()"),
    add_import(TRAIN, "import argparse"),
    sub(TRAIN, r"\bconfig\b(?!=|\.json)", "args", None),
    without_unused_imports(TRAIN),
)
kind(
    "Config as a SimpleNamespace",
    REPORTED,
    "one object with the values, without flags",
    instead_of_config(namespace, "CONFIG"),
    NAMESPACE,
)
kind(
    "Config as constants",
    NANO,
    "each setting is a global variable",
    instead_of_config(constants, "CONFIG"),
    NAMESPACE,
)
kind(
    "Config as a class of constants",
    "karpathy/minGPT:mingpt/trainer.py",
    "no dataclass, no flags: class attributes",
    instead_of_config(class_of_constants, "Config()"),
    without_unused_imports(TRAIN),
    sub("environment.py", r"return vars\(config\)", "return vars(type(config)) | vars(config)"),
)
kind(
    "Config as a dictionary",
    "victoresque/pytorch-template:parse_config.py",
    "a dictionary of defaults, from which the settings are made",
    instead_of_config(dictionary, "SimpleNamespace(**DEFAULTS)"),
    NAMESPACE,
)
kind(
    "Config as a NamedTuple",
    REPORTED,
    "NamedTuple instead of a dataclass",
    instead_of_config(named_tuple, "Config()"),
    sub("environment.py", r"return vars\(config\)", "return config._asdict()"),
    add_import(TRAIN, "from typing import NamedTuple"),
    without_unused_imports(TRAIN),
)
kind(
    "Config with docstrings",
    CLEANRL,
    "a docstring below each field instead of a comment",
    instead_of_config(with_docstrings, "Config()"),
    without_unused_imports(TRAIN),
)
kind(
    "Config with tyro",
    CLEANRL,
    "tyro.cli() reads the flags",
    sub(TRAIN, r"parse_flags\(Config, __doc__\)", "tyro.cli(Config)"),
    add_import(TRAIN, "import tyro"),
    without_unused_imports(TRAIN),
)
kind(
    "Config in a file of its own",
    "tinkoff-ai/CORL:algorithms/offline/td3_bc.py",
    "the dataclass moves to config.py",
    move(("Config",), "config.py", "The settings."),
)
kind(
    "Config in settings.py, and its fields sorted",
    "karpathy/nanoGPT:config/train_gpt2.py",
    "the dataclass moves, in the order of the alphabet",
    lambda files: _sorted_fields(files),
    move(("Config",), "settings.py", "The settings."),
)
kind(
    "Config from a YAML file",
    "huggingface/pytorch-image-models:train.py",
    "config.yaml has the values",
    in_file("config.yaml", "yaml"),
    instead_of_config(
        lambda found: READ.format(loader="yaml.safe_load(Path(path).read_text())"),
        'read_config("config.yaml")',
    ),
    add_import(TRAIN, "import yaml"),
    NAMESPACE,
    formatted(TRAIN),
)
kind(
    "Config from a JSON file",
    "victoresque/pytorch-template:config.json",
    "config.json has the values",
    in_file("config.json", "json"),
    instead_of_config(
        lambda found: READ.format(loader="json.loads(Path(path).read_text())"),
        'read_config("config.json")',
    ),
    add_import(TRAIN, "import json"),
    NAMESPACE,
    formatted(TRAIN),
)
kind(
    "Config with hydra",
    "pytorch/examples:distributed/minGPT-ddp/mingpt/main.py",
    "hydra.main() and conf/config.yaml",
    in_file("conf/config.yaml", "yaml"),
    lambda files: _hydra(files),
)
kind(
    "constants beside Config",
    LLAMA,
    "upper-case constants at the top of the file, used in main",
    sub(
        TRAIN,
        r"^@dataclass\(frozen=True\)$",
        "WARN_ABOVE = 4.0\nSHOW = 3\n\n\n@dataclass(frozen=True)",
    ),
    after(
        TRAIN,
        r"loss = compute_loss\(",
        "if loss > WARN_ABOVE and progress.step < SHOW:\n    log('a high loss')",
    ),
)
kind(
    "configurator that runs a file",
    "karpathy/nanoGPT:configurator.py",
    "another file of Python may override defaults",
    sub(
        TRAIN,
        r"^    config = parse_flags\(Config, __doc__\)$",
        "    config = parse_flags(Config, __doc__)\n    for name, value in OVERRIDES.items():\n        object.__setattr__(config, name, value)",
    ),
    create("overrides.py", "OVERRIDES = {'weight_decay': 0.1}\n"),
    add_import(TRAIN, "from overrides import OVERRIDES"),
)
kind(
    "Config not frozen",
    "tinkoff-ai/CORL:algorithms/offline/cql.py",
    "@dataclass without frozen",
    sub(TRAIN, r"^@dataclass\(frozen=True\)$", "@dataclass"),
)
kind(
    "Config checked when it is made",
    "tinkoff-ai/CORL:algorithms/offline/iql.py",
    "__post_init__ with assertions",
    lambda files: _method(
        files,
        """
        def __post_init__(self) -> None:
            assert 0 <= self.warmup_ratio < 1, self.warmup_ratio
            assert self.max_grad_norm >= 0
    """,
    ),
)
kind(
    "Config derives a setting",
    "tinkoff-ai/CORL:algorithms/offline/dt.py",
    "__post_init__ sets output_dir from name and seed",
    sub(TRAIN, r"^@dataclass\(frozen=True\)$", "@dataclass"),
    field('name: str = "digits"  # of this experiment'),
    lambda files: _method(
        files,
        """
        def __post_init__(self) -> None:
            self.output_dir = self.output_dir / f"{self.name}-{self.seed}"
    """,
    ),
)
kind(
    "Config with a property",
    "karpathy/minGPT:mingpt/utils.py",
    "a property counts samples",
    lambda files: _method(
        files,
        """
        @property
        def samples_per_step(self) -> int:
            return self.batch_size * max(1, getattr(self, "gradient_accumulation_steps", 1))
    """,
    ),
    after(TRAIN, r"log\(describe\(", 'log(f"{config.samples_per_step} samples a step")'),
)
kind(
    "Config read by name",
    "allenai/open-instruct:open_instruct/finetune.py",
    "getattr(config, name) for a list of names",
    after(
        TRAIN,
        r"log\(describe\(",
        'for name in ("learning_rate", "max_grad_norm", "warmup_ratio"):\n    log(f"{name}: {getattr(config, name)}")',
    ),
)
kind(
    "Config printed as a table",
    CLEANRL,
    "all settings are printed as Markdown",
    after(
        TRAIN,
        r"log\(describe\(",
        'log("|param|value|\\n|-|-|\\n" + "\\n".join(f"|{k}|{v}|" for k, v in vars(config).items() if k != "resume"))',
    ),
)
kind(
    "Config written as JSON by hand",
    "facebookresearch/mae:main_pretrain.py",
    "args.json beside the metrics",
    after(
        TRAIN,
        r"write_config\(",
        'if accelerator.is_main_process:\n    (config.output_dir / "args.json").write_text(json.dumps(vars(config), default=str))',
    ),
    add_import(TRAIN, "import json"),
)
kind(
    "Config made in a script of its own",
    "vwxyzjn/cleanrl:cleanrl_utils/tuner.py",
    "sweep.py calls main() with several rates",
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
kind(
    "three more fields",
    CLEANRL,
    "fields with comments, used in the loop",
    field(
        "print_freq: int = 2  # batches between own lines\nown_scale: float = 1.0  # of the loss\nexp_name: str = 'exp'  # of this run"
    ),
    after(
        TRAIN,
        r"train_loss\.add\(",
        "if progress.batch % config.print_freq == 0:\n    log(f'{config.exp_name}: {float(loss) * config.own_scale:.3f}')",
    ),
)
kind(
    "field at the end",
    "tinkoff-ai/CORL:algorithms/offline/any_percent_bc.py",
    "a last field",
    field("tag: str = ''  # for the log", "resume"),
    after(TRAIN, r"log\(describe\(", "log(f'tag {config.tag}')"),
)
kind(
    "field between those of clipping and schedule",
    TIMM,
    "a field beside max_grad_norm",
    field("clip_mode: str = 'norm'  # norm, value, agc", "keep_checkpoints"),
    after(TRAIN, r"log\(describe\(", "log(f'clip mode {config.clip_mode}')"),
)
kind(
    "field with a list",
    "facebookresearch/ConvNeXt:main.py",
    "a field with a default factory",
    field("layers: list[int] = dataclasses.field(default_factory=lambda: [1, 2])  # to watch"),
    add_import(TRAIN, "import dataclasses"),
    sub(TRAIN, r"parse_flags\(Config, __doc__\)", "Config()"),
    without_unused_imports(TRAIN),
)
kind(
    "batch size changed",
    NANO,
    "another batch size",
    sub(TRAIN, r"^(    batch_size: int = )\d+", r"\g<1>48"),
)
kind(
    "rate changed",
    NANO,
    "another learning rate",
    sub(TRAIN, r"^(    learning_rate: float = )[\d.]+", r"\g<1>0.0006"),
)
kind(
    "weight decay changed",
    NANO,
    "0.1, and its comment",
    sub(
        TRAIN, r"^    weight_decay: float = .*", "    weight_decay: float = 0.05  # as in the paper"
    ),
)
kind(
    "clipping changed",
    TIMM,
    "another norm",
    sub(TRAIN, r"^(    max_grad_norm: float = )[\d.]+", r"\g<1>3.0"),
)
kind(
    "warm-up changed",
    LLAMA,
    "a longer warm-up",
    sub(TRAIN, r"^(    warmup_ratio: float = )[\d.]+", r"\g<1>0.3"),
)
kind("seed changed", LLAMA, "1337", sub(TRAIN, r"^(    seed: int = )\d+", r"\g<1>1337"))
kind(
    "output folder with the date",
    LLAMA,
    "the folder's name has a time",
    sub(TRAIN, r'Path\("runs/latest"\)  #', 'Path("runs") / "own"  #'),
)
kind(
    "comments of Config removed",
    "davda54/sam:example/train.py",
    "no comments behind fields, and no flags",
    sub(TRAIN, r"^(    \w+: [^#\n]*?)  # .*$", r"\1", None),
)
kind(
    "comments of Config in French",
    REPORTED,
    "some comments are translated",
    sub(TRAIN, r"# passes over the training data", "# nombre d'époques"),
    sub(TRAIN, r"# samples per batch on each process", "# taille du lot par processus"),
    sub(
        TRAIN,
        r"# stop after this many steps; 0: after the last epoch",
        "# arrêt après tant de pas ; 0 : à la fin",
    ),
)
kind(
    "fields in two groups with headings",
    NANO,
    "comment lines between fields",
    before(TRAIN, r"epochs: ", "# data and duration", "Config"),
    before(TRAIN, r"log_every: ", "# logging and checkpoints", "Config"),
    before(TRAIN, r"output_dir: ", "# where results go", "Config"),
)
kind(
    "field deleted",
    "davda54/sam:example/train.py",
    "no workers: num_workers goes from Config and data.py",
    delete(TRAIN, r"num_workers: ", "Config"),
    sub(DATA, r"^ +num_workers=config\.num_workers,\n", "", None),
    sub(DATA, r', "num_workers": config\.num_workers', ""),
    without_unused_imports(DATA),
)
kind(
    "field renamed",
    CLEANRL,
    "learning_rate is called lr",
    everywhere(r"\bconfig\.learning_rate\b", "config.lr"),
    sub(TRAIN, r"^    learning_rate: ", "    lr: "),
    sub("flags.py", r'"learning_rate": ', '"lr": '),
)
kind(
    "field of clipping renamed",
    NANO,
    "max_grad_norm is called grad_clip",
    sub(TRAIN, r"\bmax_grad_norm\b", "grad_clip", None),
    also=[nothing],
)
kind(
    "environment variable overrides a setting",
    "facebookresearch/mae:util/misc.py",
    "the output folder comes from the environment",
    sub(
        TRAIN,
        r"^    config = parse_flags\(Config, __doc__\)$",
        '    config = parse_flags(Config, __doc__)\n    if "RUN_DIR" in os.environ:\n        config = replace(config, output_dir=Path(os.environ["RUN_DIR"]))',
    ),
    sub(
        TRAIN, r"^from dataclasses import dataclass$", "from dataclasses import dataclass, replace"
    ),
    add_import(TRAIN, "import os"),
)


def _method(files: Files, text: str) -> None:
    """A method at the end of Config."""
    (place,) = find(files[TRAIN], r"(@\S+ )?class Config", "")
    new = ["", *rows(textwrap.dedent(text), "    ")]
    files[TRAIN] = splice(files[TRAIN], place.end, place.end, new)


def _sorted_fields(files: Files) -> None:
    (place,) = find(files[TRAIN], r"(@\S+ )?class Config", "")
    lines = files[TRAIN].splitlines()[place.start : place.end]
    at = next(number for number, line in enumerate(lines) if line.startswith("class ")) + 1
    new = [*lines[:at], *sorted(lines[at:])]
    files[TRAIN] = splice(files[TRAIN], place.start, place.end, new)


def _hydra(files: Files) -> None:
    both(
        instead_of_config(lambda found: "", "None"),
        sub(
            TRAIN,
            r'^if __name__ == "__main__":\n(    .*\n)+',
            'if __name__ == "__main__":\n    main()\n',
        ),
        sub(
            TRAIN,
            r"^def main\(config\) -> None:$",
            '@hydra.main(version_base=None, config_path="conf", config_name="config")\ndef main(config: DictConfig) -> None:\n    config = SimpleNamespace(**OmegaConf.to_container(config))\n    config.output_dir = Path(config.output_dir)',
        ),
        add_import(TRAIN, "import hydra"),
        add_import(TRAIN, "from omegaconf import DictConfig, OmegaConf"),
        NAMESPACE,
        formatted(TRAIN),
    )(files)
