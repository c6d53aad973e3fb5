"""The command line. Only declarations: the work of a command is in the module of the same name."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from scaffold.answers.catalog import Value

app = typer.Typer(
    no_args_is_help=True,
    help="Generate PyTorch + Accelerate training projects that you own: the loop, its tests, and "
    "the launch files.",
)

PROJECT, HARDWARE, TRAINING = "Project", "Hardware", "Training"

# settings that have a command-line option with the same name
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


def complete(what: str, *given: str) -> Callable[[str], list[tuple[str, str]]]:
    """What the shell offers for an argument, found only when it asks."""

    def found(incomplete: str) -> list[tuple[str, str]]:
        from scaffold.commands import completion

        return completion.complete(what, incomplete, *given)

    return found


Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set any setting, by its key. Can be repeated.",
        autocompletion=complete("settings"),
    ),
]
Name = Annotated[str | None, typer.Option(help="project.name", rich_help_panel=PROJECT)]
Task = Annotated[
    str | None,
    typer.Option(
        help="project.task",
        rich_help_panel=PROJECT,
        autocompletion=complete("choices", "project.task"),
    ),
]
DistributedType = Annotated[
    str | None,
    typer.Option(
        help="NO, MULTI_GPU, MULTI_CPU, ...",
        rich_help_panel=HARDWARE,
        autocompletion=complete("choices", "hardware.distributed_type"),
    ),
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
    str | None,
    typer.Option(
        help="none, fsdp or deepspeed",
        rich_help_panel=HARDWARE,
        autocompletion=complete("choices", "hardware.sharding"),
    ),
]
MixedPrecision = Annotated[
    str | None,
    typer.Option(
        help="no, bf16, fp16 or fp8",
        rich_help_panel=HARDWARE,
        autocompletion=complete("choices", "hardware.mixed_precision"),
    ),
]
Launcher = Annotated[
    str | None,
    typer.Option(
        help="accelerate, torchrun, slurm, ...",
        rich_help_panel=HARDWARE,
        autocompletion=complete("choices", "hardware.launcher"),
    ),
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
Project = Annotated[Path, typer.Argument(help="The project folder.")]
Target = Annotated[
    Path,
    typer.Argument(
        help="The project folder. It is created if it does not exist; one that is not empty needs "
        "--into."
    ),
]
Into = Annotated[
    bool,
    typer.Option(
        "--into", help="Write into a folder that is not empty; none of its files is overwritten."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show the changes as a diff without writing anything.")
]
AccelerateConfig = Annotated[
    str | None,
    typer.Option(
        metavar="[FILE]",
        help="Import the hardware settings from an `accelerate config` file. Without FILE: from "
        "the one in its default location.",
    ),
]
Features = Annotated[
    list[str],
    typer.Argument(
        metavar="FEATURE... [FOLDER]",
        help="Names of features; `scaffold features` lists them. The last word may be the folder "
        "of the project, unless it is the name of a feature.",
        autocompletion=complete("features"),
    ),
]
InProject = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="FOLDER",
        help="The folder of the project. Without it: the last word, or the current folder.",
        show_default=False,
    ),
]


@app.command()
def new(
    path: Target,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask; use the defaults.")] = False,
    settings: Settings = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read answers from this scaffold.toml.")
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Use the answers of a recipe; `scaffold features` lists them.",
            autocompletion=complete("recipes"),
        ),
    ] = None,
    from_accelerate_config: AccelerateConfig = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the files without writing them.")
    ] = False,
    print_file: Annotated[
        str | None,
        typer.Option("--print", metavar="FILE", help="Print one file without writing anything."),
    ] = None,
    into: Into = False,
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
    """Create a project: ask, write the files, and print the commands that train it."""
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
        into=into,
    )


@app.command()
def update(
    path: Project = Path(),
    settings: Settings = None,
    from_accelerate_config: AccelerateConfig = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask again, starting from the previous answers.")
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
    """Merge changed answers or newer templates into a project, and keep your edits.

    Change answers in scaffold.toml or with the options below. Exits with 1 if there are conflicts
    to resolve.
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
    features: Features,
    project: InProject = None,
    settings: Settings = None,
    dry_run: DryRun = False,
) -> None:
    """Turn on features in a project, with those that they need, and keep your edits."""
    from scaffold.commands.update import switch_features

    switch_features(features, project, on=True, settings=settings or [], dry_run=dry_run)


@app.command()
def remove(
    features: Features,
    project: InProject = None,
    settings: Settings = None,
    dry_run: DryRun = False,
) -> None:
    """Turn off features in a project, and keep your edits."""
    from scaffold.commands.update import switch_features

    switch_features(features, project, on=False, settings=settings or [], dry_run=dry_run)


@app.command()
def diff(
    path: Project = Path(),
    incoming: Annotated[
        bool, typer.Option("--incoming", help="Show what an update would change instead.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="With --incoming: set any setting, by its key.",
            autocompletion=complete("settings"),
        ),
    ] = None,
) -> None:
    """Show your edits since the last update, as a patch."""
    if incoming or settings:
        from scaffold.commands.update import update_project

        update_project(path, settings=settings or [], typed={}, dry_run=True)
    else:
        from scaffold.commands.diff import show_own_changes

        show_own_changes(path)


@app.command()
def status(
    path: Project = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")] = False,
) -> None:
    """Show answers, edited files, open conflicts, and answers that are not applied yet."""
    from scaffold.commands.status import show_status

    show_status(path, as_json)


@app.command()
def doctor(
    path: Project = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")] = False,
) -> None:
    """Check whether this machine fits the project, and suggest fixes. Exits with 1 if not."""
    from scaffold.commands.doctor import show_fit

    show_fit(path, as_json)


@app.command()
def check(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Python files, notebooks, or folders of them.")
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="CODES", help="Only these rules, by code or its start: TL2,TL301."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="CODES", help="All rules but these.")
    ] = None,
    layout: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", help="text, json, sarif or github."),
    ] = "text",
    rules: Annotated[bool, typer.Option("--rules", help="List the rules.")] = False,
    explain_code: Annotated[
        str | None,
        typer.Option(
            "--explain", metavar="CODE", help="Show a rule, with a wrong and a right example."
        ),
    ] = None,
) -> None:
    """Find what is wrong in training loops, of any project, without running them.

    `# noqa: CODE` on a line keeps it. Exits with 1 if something is found.
    """
    from scaffold.commands.check import check_files, explain_rule, list_rules

    if rules:
        list_rules()
    elif explain_code:
        explain_rule(explain_code)
    else:
        check_files(files or [], select or [], ignore or [], layout)


@app.command()
def eject(
    script: Annotated[
        Path, typer.Argument(help="A script or notebook; it is read, and neither run nor changed.")
    ],
    path: Annotated[
        Path | None,
        typer.Argument(
            help="The new project folder. Without it: SCRIPT_project.", show_default=False
        ),
    ] = None,
    prove: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Then run both for N updates on the same batches, and compare losses and weights.",
        ),
    ] = 0,
) -> None:
    """Write a project from a script that trains with Lightning, Transformers' Trainer or
    pytorch-accelerated.

    The model, the data and the loss stay yours. Exits with 1 if something is left to do.
    """
    from scaffold.commands.eject import eject_script

    eject_script(script, path, prove)


@app.command()
def resolve(
    path: Project = Path(),
    files: Annotated[
        list[str] | None, typer.Argument(help="Only the conflicts in these files.")
    ] = None,
    ours: Annotated[
        bool, typer.Option("--ours", help="Keep your lines, below the marker `<<<<<<< yours`.")
    ] = False,
    theirs: Annotated[
        bool, typer.Option("--theirs", help="Take the new lines, below the marker `=======`.")
    ] = False,
) -> None:
    """Take one side of the conflicts that an update left, in all files or in some.

    Exits with 1 if conflicts are left.
    """
    from scaffold.commands.resolve import resolve_conflicts

    resolve_conflicts(path, files or [], ours=ours, theirs=theirs)


@app.command()
def undo(
    path: Project = Path(),
    keep_copy: Annotated[
        bool,
        typer.Option("--keep-copy", help="Keep your later edits in files named NAME.kept."),
    ] = False,
    steps: Annotated[
        int, typer.Option(metavar="N", help="Undo the last N of them, the newest first.", min=1)
    ] = 1,
) -> None:
    """Undo the last update, add, remove or resolve: restore the files as they were before it.

    The last ten can be undone, one after the other.
    """
    from scaffold.commands.undo import undo_update

    undo_update(path, keep_copy, steps)


@app.command()
def adopt(
    path: Project = Path(),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what differs as a diff, and write nothing.")
    ] = False,
) -> None:
    """Rebuild a lost folder .scaffold/ from scaffold.toml, so that updates work again.

    Your files stay as they are: what differs from a new render counts as your edits.
    """
    from scaffold.commands.adopt import adopt_project

    adopt_project(path, dry_run=dry_run)


@app.command()
def web(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PROJECT]",
            help="A project to change. Without it: the one in the current folder, or a new one.",
            show_default=False,
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write the page and the documentation as static files instead, with the generator "
            "in it.",
        ),
    ] = None,
    pyodide: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="With --export: the folder of the npm package pyodide. Without it, it is "
            "downloaded from npm.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="The port; 0 for a free one.", min=0, max=65535)] = 0,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
) -> None:
    """Open a page that shows the project while you answer, and what an update would change.

    It runs on this machine alone, until Ctrl-C.
    """
    if export is not None:
        from scaffold.web.export import export_page

        export_page(export, pyodide, app)
    else:
        from scaffold.web.server import serve

        serve(path, app, port=port, open_browser=open_browser)


@app.command()
def features(
    words: Annotated[
        list[str] | None, typer.Argument(help="List only entries that contain all these words.")
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only entries that work with this task.",
            autocompletion=complete("choices", "project.task"),
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Only tasks, features, recipes, frameworks or settings.",
            autocompletion=lambda: ["tasks", "features", "recipes", "frameworks", "settings"],
        ),
    ] = None,
    on: Annotated[
        bool | None,
        typer.Option("--on/--off", help="Only features that are on by default, or off."),
    ] = None,
) -> None:
    """List tasks, features, recipes and settings, or filter them."""
    from scaffold.commands.features import list_features

    list_features(words or [], task, kind, on)


@app.command()
def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A task, a feature, a recipe, the key of a setting, `accelerate`, `memory`, "
            "`lightning`, `transformers` or `pytorch-accelerated`. "
            "With --sources: the folder of a project.",
            autocompletion=complete("names"),
        ),
    ] = None,
    sources: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Show where each line of this file of a project comes from: the template, its "
            "line, and the condition that brought it.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="With --sources: of a project with this setting. Can be repeated.",
            autocompletion=complete("settings"),
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --sources: of a project with these answers."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --sources: print JSON for editors.")
    ] = False,
) -> None:
    """Explain a task, a feature, a recipe or a setting, or the lines of a file.

    For a feature, the lines that it adds are shown as a diff. `accelerate` shows one loop in plain
    PyTorch, with Accelerate and with DistributedDataParallel. `memory` explains the estimate.
    A framework shows a script that uses it, and the project that `scaffold eject` makes of it.
    """
    from scaffold.errors import ScaffoldError

    if sources is not None:
        from scaffold.commands.sources import explain_sources

        folder = None if name is None else Path(name)
        explain_sources(sources, folder, settings or [], answers, as_json)
    elif settings or answers or as_json:
        raise ScaffoldError("--set, --answers and --json belong to --sources FILE.")
    elif name is None:
        raise ScaffoldError("explain what? `scaffold features` lists what there is.")
    else:
        from scaffold.commands.explain import explain as explain_name

        explain_name(name)


def typed_answers(options: Mapping[str, object]) -> "dict[str, Value]":
    """The answers given as command-line options, by key."""
    return {
        key: value
        for key in TYPED
        if isinstance(value := options[key.rpartition(".")[2]], bool | int | float | str)
    }


def with_default_file(arguments: Sequence[str]) -> list[str]:
    """The arguments, with a word for the default file where the option has no value."""
    found = []
    for place, argument in enumerate(arguments, start=1):
        found.append(argument)
        alone = place == len(arguments) or arguments[place].startswith("-")
        if argument == "--from-accelerate-config" and alone:
            found.append("default")
    return found


def check_current_folder() -> None:
    """Raise a ScaffoldError if it was deleted: no path could be resolved."""
    from scaffold.errors import ScaffoldError

    try:
        Path.cwd()
    except FileNotFoundError:
        raise ScaffoldError(
            "The current folder no longer exists. Change to another one: cd ~"
        ) from None


def main() -> None:
    """Run the command line. Errors that a user can fix print a message and exit with 2."""
    import gc
    import os
    import sys

    from scaffold.errors import ScaffoldError

    gc.disable()  # commands are too short to need it: without it, they are a tenth faster
    if os.environ.get("_SCAFFOLD_COMPLETE") == "complete_bash":
        from scaffold.commands.completion import prepare_bash

        prepare_bash()
    try:
        check_current_folder()
        app(with_default_file(sys.argv[1:]))
    except ScaffoldError as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        sys.exit(2)
