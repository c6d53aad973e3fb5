"""What the command says of an ejected project."""

from scaffold.eject.plan import Plan


def report(plan: Plan) -> list[str]:
    """What was carried over as answers, what has no effect, and what is left to do."""
    rows = [f"From {plan.script.path.name} ({plan.framework}), as answers:"]
    rows += [f"  {key} = {value!r}" for key, value in sorted(plan.answers.items())]
    if plan.notes:
        rows += ["", "Without effect here, or done another way:"]
        rows += [f"  {note}" for note in plan.notes]
    if plan.todos:
        rows += ["", f"{len(plan.todos)} TODO(s), each in the project where it belongs:"]
        for todo in plan.todos:
            rows += [f"  {todo.place}: {todo.reason}", f"    {todo.line}"]
    return rows
