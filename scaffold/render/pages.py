"""A page of documentation for each task and feature, from its manifest."""

from collections.abc import Iterable, Iterator

from scaffold.answers.catalog import (
    PAGE,
    Catalog,
    Component,
    Feature,
    Option,
    Task,
    as_typed,
    read_about,
)
from scaffold.answers.check import allowed_numbers
from scaffold.answers.recipes import Recipe, tasks_served
from scaffold.answers.resolve import answers_for, can_fit
from scaffold.answers.settings import toml_literal


def write_page(catalog: Catalog, component: Task | Feature) -> str:
    """Markdown: what a task or a feature is, when to take it, what it works with, its settings."""
    if isinstance(component, Task):
        facts = [*_task_facts(catalog, component)]
    else:
        facts = [*_feature_facts(catalog, component)]
        facts += _fitting_tasks(catalog, component)
    parts = [f"# {component.title}", _sentence(component.help), read_about(component)]
    parts += ["\n".join(f"- {fact}" for fact in facts)]
    parts += _settings(catalog, component)
    if isinstance(component, Task) and "command" in component.values:
        parts += _commands(component)
    return "\n\n".join(part for part in parts if part) + "\n"


def write_recipe_page(catalog: Catalog, recipe: Recipe) -> str:
    """Markdown: what a recipe is, the tasks that it serves, and its answers."""
    text = recipe.manifest.read_text(encoding="utf-8")
    answers = text[text.index("\n[") :].strip() if "\n[" in text else ""
    parts = [f"# {recipe.title}", f"{recipe.help}."]
    facts = [f"- use it: `scaffold new PATH --recipe {recipe.name}`"]
    served = list(tasks_served(catalog, recipe.name))
    if len(served) > 1:
        facts += [f"- works with the tasks {_names(served)}; choose one with `--task`"]
        facts += [f"- does not work with {_names(t for t in catalog.tasks if t not in served)}"]
    parts += ["\n".join(facts)]
    parts += ["## Answers", "Features that it does not name are off.", f"```toml\n{answers}\n```"]
    return "\n\n".join(parts) + "\n"


def write_option_page(catalog: Catalog, option: Option) -> str:
    """Markdown: what a setting means, what it can be, and where its default is another one."""
    default = option.default_from or toml_literal(option.default)
    facts = [f"set it: `--set {option.key}={_example(option)}`, or in scaffold.toml"]
    if option.config:
        facts.append(
            f"in the script: `Config.{option.field}`, `--{option.field.replace('_', '-')}`"
        )
    facts.append(f"default: `{default}`")
    facts += [
        f"default with {where}: `{value}`" for where, value in _other_defaults(catalog, option)
    ]
    if allowed := _allowed(option):
        facts.append(f"allowed: {allowed}")
    if option.task:
        facts.append(f"a setting of the task `{option.task}`")
    if option.feature:
        facts.append(f"a setting of the feature `{option.feature}`")
    if option.when:
        facts.append(f"has an effect{_with(option)}".replace("(", "").replace(")", ""))
    parts = [f"# {option.key}", _sentence(option.comment)]
    parts += ["\n".join(f"- {fact}" for fact in facts), *_choices(option)]
    return "\n\n".join(parts) + "\n"


def _example(option: Option) -> str:
    return as_typed(option.default) if option.default != "" else "VALUE"


def _other_defaults(catalog: Catalog, option: Option) -> Iterator[tuple[str, str]]:
    """The tasks and the choices that have a default of their own."""
    for task in catalog.tasks.values():
        if task.defaults.get(option.key, option.default) != option.default:
            yield f"`project.task={task.name}`", toml_literal(task.defaults[option.key])
    for other in catalog.settings.values():
        for choice in other.choices:
            if option.key in choice.defaults:
                yield f"`{other.key}={choice.value}`", toml_literal(choice.defaults[option.key])
    for feature in catalog.features.values():
        if option.key in feature.defaults:
            yield f"`features.{feature.name}`", toml_literal(feature.defaults[option.key])


def _defaults_here(component: Component, option: Option) -> Iterator[str]:
    """Other defaults of an option, with the choices of its own task or feature that have them."""
    for other in component.options:
        for choice in other.choices:
            if option.key in choice.defaults:
                value = toml_literal(choice.defaults[option.key])
                yield f"`{value}` with `{other.name}={choice.value}`"


def _allowed(option: Option) -> str:
    if option.type == "bool":
        return "true or false"
    if option.type in ("int", "float"):
        return allowed_numbers(option)
    return option.allowed


def write_index(catalog: Catalog) -> str:
    """Markdown: all tasks and features, with a link to the page of each."""
    parts = [
        "# Tasks and features",
        "`scaffold features` lists them too. `scaffold explain NAME` prints a page with all "
        "settings, and the lines that a feature adds.",
    ]
    for title, components in (("Tasks", catalog.tasks), ("Features", catalog.features)):
        rows = [f"| {title.lower().removesuffix('s')} | |", "| --- | --- |"]
        for component in sorted(components.values(), key=lambda component: component.name):
            rows.append(f"| [{component.name}]({page_path(component)}) | {component.help} |")
        parts += [f"## {title}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def page_path(component: Component) -> str:
    """Where the page of a component is, below the templates."""
    return (component.folder / PAGE).relative_to(component.folder.parents[1]).as_posix()


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _task_facts(catalog: Catalog, task: Task) -> Iterator[str]:
    yield f"use it: `scaffold new PATH --task {task.name}`"
    yield f"result of the default project: {task.values['target']}"
    others = [f.name for f in catalog.features.values() if not can_fit(f, task)]
    if others:
        yield f"features that do not work with it: {_names(others)}"
    yield from _dependencies(task)


AFTER_TRAINING = ("evaluate", "export", "share")


def _commands(task: Task) -> Iterator[str]:
    """What comes after training, one command after the other."""
    features = " ".join(f"--set features.{name}=true" for name in AFTER_TRAINING)
    lines = [f"scaffold new my-project --task {task.name} --yes {features}"]
    lines += ["cd my-project   # and once: pip install -e ."]
    lines += ["python train.py", "python evaluate.py", f"python {task.values['command']}"]
    lines += ["python export.py --format safetensors --output exported"]
    lines += ['cd exported && python -c "from load import load; print(load())" && cd ..']
    lines += ["python share.py   # writes a folder; with --repo it is uploaded"]
    yield "## From a new folder to the Hub"
    yield "\n".join(["```sh", *lines, "```"])
    yield (
        "None of them asks questions. Give predict.py your own input. Fill in the license, the "
        "intended use and the limits where shared/README.md marks them. To "
        "upload the folder, log in with `hf auth login`, and add `--repo USER/NAME`."
    )


def _feature_facts(catalog: Catalog, feature: Feature) -> Iterator[str]:
    if feature.switch:
        yield f"turn it on: `{feature.switch}`, such as `{toml_literal(feature.example)}`"
    elif feature.default:
        yield f"on by default; turn it off: `--set {feature.switch_key}=false`"
    else:
        yield f"turn it on: `scaffold add {feature.name}`, or `--set features.{feature.name}=true`"
    if feature.needs:
        traits = " and ".join(catalog.traits[name].help for name in feature.needs)
        yield f"needs {traits}: tasks with {_names(feature.needs)}"
    if feature.requires:
        yield f"needs the features {_names(feature.requires)}"
    if feature.conflicts:
        yield f"can't be combined with {_names(feature.conflicts)}"
    yield from _dependencies(feature)


def _fitting_tasks(catalog: Catalog, feature: Feature) -> Iterator[str]:
    """The tasks that a feature works with, and what it needs of them."""
    tasks = [task for task in catalog.tasks.values() if can_fit(feature, task)]
    yield f"works with {_names(task.name for task in tasks)}"
    for task in tasks:
        if choices := answers_for(catalog, feature, {"project.task": task.name}):
            settings = (f"{key} = {toml_literal(value)}" for key, value in choices.items())
            yield f"with `{task.name}`, set {_names(settings)}"


def _dependencies(component: Task | Feature) -> Iterator[str]:
    if component.dependencies:
        yield f"adds the dependencies {_names(component.dependencies)}"
    packages_for = component.dependencies_for if isinstance(component, Feature) else {}
    for trait, packages in packages_for.items():
        yield f"adds the dependencies {_names(packages)} for tasks with {trait}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _settings(catalog: Catalog, component: Component) -> Iterator[str]:
    options = component.options
    if not options:
        return
    usual = catalog.settings
    rows = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for option in options:
        default = option.default_from or toml_literal(usual[option.key].default)
        text = ", ".join([f"`{default}`", *_defaults_here(component, option)])
        rows.append(f"| `{option.key}` | {text} | {option.comment}{_with(option)} |")
    yield "## Settings"
    yield "\n".join(rows)
    for option in options:
        yield from _choices(option)


def _choices(option: Option) -> Iterator[str]:
    if option.choices:
        choices = [
            f"- `{choice.value}`: {choice.help}"
            + (f" (adds {_names(choice.dependencies)})" if choice.dependencies else "")
            for choice in option.choices
        ]
        yield f"`{option.key}` is one of\n\n" + "\n".join(choices)


def _with(option: Option) -> str:
    """The conditions for the option to exist."""
    conditions = [
        f"`{key if option.table not in key else key.rpartition('.')[2]}{condition}`"
        for key, condition in option.when.items()
    ]
    return f" (with {' and '.join(conditions)})" if conditions else ""
