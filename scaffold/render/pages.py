"""A page of documentation for each task and feature, from its manifest."""

from collections.abc import Iterable, Iterator

from scaffold.answers.catalog import Catalog, Component, Option
from scaffold.answers.schema import default_answers, fits, schema, switch_key
from scaffold.answers.settings import toml_literal


def write_page(catalog: Catalog, component: Component) -> str:
    """Markdown: what a task or a feature is, when to take it, and its settings."""
    facts = _task_facts if component.kind == "task" else _feature_facts
    parts = [f"# {component.title}", _sentence(component.help), component.about]
    parts += ["\n".join(f"- {fact}" for fact in facts(catalog, component))]
    parts += _settings(catalog, component)
    return "\n\n".join(part for part in parts if part) + "\n"


def write_index(catalog: Catalog) -> str:
    """Markdown: all tasks and features, with a link to the page of each."""
    parts = [
        "# Tasks and features",
        "`scaffold features` lists them too, with all settings. `scaffold explain NAME` prints a "
        "page and the lines that a feature adds.",
    ]
    for title, components in (("Tasks", catalog.tasks), ("Features", catalog.features)):
        rows = [f"| {title.lower().removesuffix('s')} | |", "| --- | --- |"]
        for component in sorted(components.values(), key=lambda component: component.name):
            rows.append(f"| [{component.name}]({page_path(component)}) | {component.help} |")
        parts += [f"## {title}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def page_path(component: Component) -> str:
    """Where the page of a component is, below the templates."""
    return (component.folder / "README.md").relative_to(component.folder.parents[1]).as_posix()


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _task_facts(catalog: Catalog, task: Component) -> Iterator[str]:
    answers = default_answers(catalog, {"project.task": task.name})
    yield f"use it: `scaffold new PATH --task {task.name}`"
    yield f"result of the default project: {task.values['target']}"
    others = [f.name for f in catalog.features.values() if not fits(catalog, f, answers)]
    if others:
        yield f"features that do not work with it: {_names(others)}"
    yield from _dependencies(task)


def _feature_facts(catalog: Catalog, feature: Component) -> Iterator[str]:
    if feature.switch:
        yield f"turn it on: `{feature.switch}`, such as `{toml_literal(feature.example)}`"
    elif feature.default:
        yield f"on by default; turn it off: `--set {switch_key(feature)}=false`"
    else:
        yield f"turn it on: `scaffold add {feature.name}`, or `--set features.{feature.name}=true`"
    if feature.needs:
        tasks = [t.name for t in catalog.tasks.values() if set(feature.needs) <= set(t.has)]
        traits = " and ".join(catalog.traits[name].help for name in feature.needs)
        yield f"needs {traits}: works with {_names(tasks)}"
    if feature.requires:
        yield f"needs the features {_names(feature.requires)}"
    if feature.conflicts:
        yield f"can't be combined with {_names(feature.conflicts)}"
    yield from _dependencies(feature)


def _dependencies(component: Component) -> Iterator[str]:
    if component.dependencies:
        yield f"adds the dependencies {_names(component.dependencies)}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _settings(catalog: Catalog, component: Component) -> Iterator[str]:
    options = component.options
    if not options:
        return
    usual = schema(catalog)
    rows = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for option in options:
        default = option.default_from or toml_literal(usual[option.key].default)
        rows.append(f"| `{option.key}` | `{default}` | {option.comment}{_with(option)} |")
    yield "## Settings"
    yield "\n".join(rows)
    for option in options:
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
