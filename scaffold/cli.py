"""The command line. Only declarations: what a command does is in the module of its name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from scaffold.answers.catalog import Value

app = typer.Typer(
    no_args_is_help=True,
    help="Writes PyTorch + Accelerate training projects that you own: the loop, its proof, its "
    "launch files.",
)

PROJECT, HARDWARE, TRAINING = "Project", "Hardware", "Training"

# the settings that have an option of their own, named like them
TYPED = (
    *(f"project.{name}" for name in ("name", "task")),
    *(
        f"hardware.{name}"
        for name in ("distributed_type", "num_machines", "num_processes", "use_cpu", "sharding")
    ),
    *(f"hardware.{name}" for name in ("mixed_precision", "launcher")),
    *(f"training.{name}" for name in ("epochs", "batch_size", "learning_rate")),
    *(f"training.{name}" for name in ("gradient_accumulation_steps", "seed")),
)


@app.callback(invoke_without_command=True)
def scaffold(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        from scaffold import __version__

        typer.echo(f"scaffold {__version__}")
        raise typer.Exit


Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any setting; can be repeated."),
]
Name = Annotated[str | None, typer.Option(help="project.name", rich_help_panel=PROJECT)]
Task = Annotated[str | None, typer.Option(help="project.task", rich_help_panel=PROJECT)]
DistributedType = Annotated[
    str | None, typer.Option(help="NO, MULTI_GPU, MULTI_CPU, ...", rich_help_panel=HARDWARE)
]
NumMachines = Annotated[
    int | None, typer.Option(help="hardware.num_machines", rich_help_panel=HARDWARE)
]
NumProcesses = Annotated[
    int | None, typer.Option(help="hardware.num_processes", rich_help_panel=HARDWARE)
]
UseCpu = Annotated[
    bool | None,
    typer.Option("--use-cpu/--no-use-cpu", help="hardware.use_cpu", rich_help_panel=HARDWARE),
]
Sharding = Annotated[
    str | None, typer.Option(help="none, fsdp or deepspeed", rich_help_panel=HARDWARE)
]
MixedPrecision = Annotated[
    str | None, typer.Option(help="no, bf16, fp16 or fp8", rich_help_panel=HARDWARE)
]
Launcher = Annotated[
    str | None, typer.Option(help="accelerate, torchrun, slurm, ...", rich_help_panel=HARDWARE)
]
Epochs = Annotated[int | None, typer.Option(help="training.epochs", rich_help_panel=TRAINING)]
BatchSize = Annotated[
    int | None, typer.Option(help="training.batch_size", rich_help_panel=TRAINING)
]
LearningRate = Annotated[
    float | None, typer.Option(help="training.learning_rate", rich_help_panel=TRAINING)
]
AccumulationSteps = Annotated[
    int | None,
    typer.Option(help="training.gradient_accumulation_steps", rich_help_panel=TRAINING),
]
Seed = Annotated[int | None, typer.Option(help="training.seed", rich_help_panel=TRAINING)]
Project = Annotated[Path, typer.Argument(help="The project's folder.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change as a diff, and write nothing.")
]
AccelerateConfig = Annotated[
    str | None,
    typer.Option(
        metavar="[FILE]",
        help="Take the hardware from a file of `accelerate config`; without FILE: the usual one.",
    ),
]
Feature = Annotated[str, typer.Argument(help="A feature, as `scaffold features` lists them.")]


@app.command()
def new(
    path: Annotated[Path, typer.Argument(help="The folder to write, which may not exist yet.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    settings: Settings = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A scaffold.toml to take answers from.")
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A recipe, as `scaffold features` lists them."),
    ] = None,
    from_accelerate_config: AccelerateConfig = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be written, and write nothing.")
    ] = False,
    print_file: Annotated[
        str | None,
        typer.Option("--print", metavar="FILE", help="Print one rendered file, write nothing."),
    ] = None,
    name: Name = None,
    task: Task = None,
    distributed_type: DistributedType = None,
    num_machines: NumMachines = None,
    num_processes: NumProcesses = None,
    use_cpu: UseCpu = None,
    sharding: Sharding = None,
    mixed_precision: MixedPrecision = None,
    launcher: Launcher = None,
    epochs: Epochs = None,
    batch_size: BatchSize = None,
    learning_rate: LearningRate = None,
    gradient_accumulation_steps: AccumulationSteps = None,
    seed: Seed = None,
) -> None:
    """Write a new project: asks, writes it, and says how to train it."""
    from scaffold.commands.new import new_project

    new_project(
        path,
        settings=settings or [],
        typed=typed_answers(locals()),
        answers_file=answers,
        recipe=recipe,
        accelerate_config=from_accelerate_config,
        ask=not yes,
        dry_run=dry_run,
        print_file=print_file,
    )


@app.command()
def update(
    path: Project = Path(),
    settings: Settings = None,
    from_accelerate_config: AccelerateConfig = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask again, with the answers of the last time.")
    ] = False,
    dry_run: DryRun = False,
    name: Name = None,
    task: Task = None,
    distributed_type: DistributedType = None,
    num_machines: NumMachines = None,
    num_processes: NumProcesses = None,
    use_cpu: UseCpu = None,
    sharding: Sharding = None,
    mixed_precision: MixedPrecision = None,
    launcher: Launcher = None,
    epochs: Epochs = None,
    batch_size: BatchSize = None,
    learning_rate: LearningRate = None,
    gradient_accumulation_steps: AccumulationSteps = None,
    seed: Seed = None,
) -> None:
    """Merge changed answers, or newer templates, into a project, and keep every edit.

    Answers are changed in scaffold.toml, or here. Ends with 1 if there are conflicts to decide.
    """
    from scaffold.commands.update import update_project

    update_project(
        path,
        settings=settings or [],
        typed=typed_answers(locals()),
        accelerate_config=from_accelerate_config,
        ask=ask,
        dry_run=dry_run,
    )


@app.command()
def add(
    feature: Feature, path: Project = Path(), settings: Settings = None, dry_run: DryRun = False
) -> None:
    """Turn a feature on in a project, and keep every edit."""
    from scaffold.commands.update import switch_feature

    switch_feature(path, feature, on=True, settings=settings or [], dry_run=dry_run)


@app.command()
def remove(
    feature: Feature, path: Project = Path(), settings: Settings = None, dry_run: DryRun = False
) -> None:
    """Turn a feature off in a project, and keep every edit."""
    from scaffold.commands.update import switch_feature

    switch_feature(path, feature, on=False, settings=settings or [], dry_run=dry_run)


@app.command()
def diff(
    path: Project = Path(),
    incoming: Annotated[
        bool, typer.Option("--incoming", help="What an update would do to the files instead.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="With --incoming: any setting."),
    ] = None,
) -> None:
    """Show what you changed since the last render, as a patch."""
    if incoming or settings:
        from scaffold.commands.update import update_project

        update_project(path, settings=settings or [], typed={}, dry_run=True)
    else:
        from scaffold.commands.diff import show_own_changes

        show_own_changes(path)


@app.command()
def status(
    path: Project = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="For other programs.")] = False,
) -> None:
    """Show answers, edited files, conflicts to decide, and answers that are not applied yet."""
    from scaffold.commands.status import show_status

    show_status(path, as_json)


@app.command()
def doctor(
    path: Project = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="For other programs.")] = False,
) -> None:
    """Show whether this machine fits the answers, and what to change. Ends with 1 if not."""
    from scaffold.commands.doctor import show_fit

    show_fit(path, as_json)


@app.command()
def undo(
    path: Project = Path(),
    keep_copy: Annotated[
        bool,
        typer.Option("--keep-copy", help="Keep files that you edited since beside, as NAME.kept."),
    ] = False,
) -> None:
    """Take the last update back: the files are what they were before it."""
    from scaffold.commands.undo import undo_update

    undo_update(path, keep_copy)


@app.command()
def features() -> None:
    """List what can be chosen: tasks, features, recipes and all settings."""
    from scaffold.commands.explain import list_features

    list_features()


@app.command()
def explain(
    feature: Annotated[
        str,
        typer.Argument(help="What `scaffold features` lists, or accelerate."),
    ],
) -> None:
    """Show the page of a task or a feature, and the lines that a feature adds, as a diff.

    `accelerate` shows what Accelerate adds to a plain loop, and what DistributedDataParallel does.
    """
    from scaffold.commands.explain import explain_accelerate, explain_feature

    if feature == "accelerate":
        explain_accelerate()
    else:
        explain_feature(feature)


def typed_answers(options: Mapping[str, object]) -> "dict[str, Value]":
    """The answers among the options of a command, by their key."""
    return {
        key: value
        for key in TYPED
        if isinstance(value := options[key.rpartition(".")[2]], bool | int | float | str)
    }


def with_default_file(arguments: Sequence[str]) -> list[str]:
    """The arguments, with the word for the usual file where the option stands without one."""
    found = []
    for place, argument in enumerate(arguments, start=1):
        found.append(argument)
        alone = place == len(arguments) or arguments[place].startswith("-")
        if argument == "--from-accelerate-config" and alone:
            found.append("default")
    return found


def main() -> None:
    """Run the command line; errors that people can mend end with a message and status 2."""
    import gc
    import sys

    from scaffold.errors import ScaffoldError

    gc.disable()  # a command is over before looking for cycles would pay: it takes a tenth off
    try:
        app(with_default_file(sys.argv[1:]))
    except ScaffoldError as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        sys.exit(2)
