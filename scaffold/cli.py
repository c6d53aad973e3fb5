"""The command line. Only declarations: what a command does is in the module of its name."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    help="Writes PyTorch + Accelerate training projects that you own: the loop, its proof, its "
    "launch files.",
)

PROJECT, HARDWARE, TRAINING = "Project", "Hardware", "Training"


@app.callback(invoke_without_command=True)
def scaffold(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        from scaffold import __version__

        typer.echo(f"scaffold {__version__}")
        raise typer.Exit


@app.command()
def new(
    path: Annotated[Path, typer.Argument(help="The folder to write, which may not exist yet.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any setting; can be repeated."),
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A scaffold.toml to take answers from.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be written, and write nothing.")
    ] = False,
    print_file: Annotated[
        str | None,
        typer.Option("--print", metavar="FILE", help="Print one rendered file, write nothing."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="project.name", rich_help_panel=PROJECT)] = None,
    task: Annotated[str | None, typer.Option(help="project.task", rich_help_panel=PROJECT)] = None,
    distributed_type: Annotated[
        str | None,
        typer.Option(help="NO, MULTI_GPU or MULTI_CPU", rich_help_panel=HARDWARE),
    ] = None,
    num_processes: Annotated[
        int | None, typer.Option(help="hardware.num_processes", rich_help_panel=HARDWARE)
    ] = None,
    use_cpu: Annotated[
        bool | None,
        typer.Option("--use-cpu/--no-use-cpu", help="hardware.use_cpu", rich_help_panel=HARDWARE),
    ] = None,
    mixed_precision: Annotated[
        str | None, typer.Option(help="no, bf16 or fp16", rich_help_panel=HARDWARE)
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="training.epochs", rich_help_panel=TRAINING)
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="training.batch_size", rich_help_panel=TRAINING)
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="training.learning_rate", rich_help_panel=TRAINING)
    ] = None,
    gradient_accumulation_steps: Annotated[
        int | None,
        typer.Option(help="training.gradient_accumulation_steps", rich_help_panel=TRAINING),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="training.seed", rich_help_panel=TRAINING)
    ] = None,
) -> None:
    """Write a new project: asks, writes it, and says how to train it."""
    from scaffold.new import new_project

    typed = {
        "project.name": name,
        "project.task": task,
        "hardware.distributed_type": distributed_type,
        "hardware.num_processes": num_processes,
        "hardware.use_cpu": use_cpu,
        "hardware.mixed_precision": mixed_precision,
        "training.epochs": epochs,
        "training.batch_size": batch_size,
        "training.learning_rate": learning_rate,
        "training.gradient_accumulation_steps": gradient_accumulation_steps,
        "training.seed": seed,
    }
    new_project(
        path,
        settings=settings or [],
        typed={key: value for key, value in typed.items() if value is not None},
        answers_file=answers,
        ask=not yes,
        dry_run=dry_run,
        print_file=print_file,
    )


@app.command()
def features() -> None:
    """List what can be chosen: tasks, features and their settings."""
    from scaffold.explain import list_features

    list_features()


@app.command()
def explain(
    feature: Annotated[str, typer.Argument(help="A feature, as `scaffold features` lists them.")],
) -> None:
    """Show the lines that a feature adds to the default project, as a diff."""
    from scaffold.explain import explain_feature

    explain_feature(feature)


def main() -> None:
    """Run the command line; errors that people can mend end with a message and status 2."""
    import gc
    import sys

    from scaffold.errors import ScaffoldError

    gc.disable()  # a command is over before looking for cycles would pay: it takes a tenth off
    try:
        app()
    except ScaffoldError as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        sys.exit(2)
