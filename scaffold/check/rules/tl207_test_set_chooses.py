"""The test set chooses the model, so its result is too good: it is the best of many tries."""

from scaffold.check.loops import Found, Source, additions, ast, evaluations, last, loader_of, named

MEND = "Choose by a validation set; use the test set once, at the end."
WRONG = """
accuracy = evaluate(model, test_loader)
if accuracy > best_accuracy:
    best_accuracy = accuracy
"""
TEST = r"test_?(?:\w*loader|dl|data)"
RIGHT = WRONG.replace("test_loader", "val_loader")


def find(source: Source) -> Found:
    for node in (n for n in source.all(ast.If) if isinstance(n, ast.If)):
        tests = [n for n in ast.walk(node.test) if isinstance(n, ast.Compare)]
        stores = [n for n in source.within(node) if isinstance(getattr(n, "ctx", None), ast.Store)]
        stored = [last(n) for n in stores]
        for test in tests:
            sides = [test.left, *test.comparators]
            best = any(named(side, r"best\w*|\w*_best") and last(side) in stored for side in sides)
            if best and (_test_loops(source, node) or any(_of_test(source, s) for s in sides)):
                yield node
    for call in source.calls("step", "update"):
        owner = getattr(call.func, "value", call)
        if source.is_a(owner, "ReduceLROnPlateau()") or named(owner, "best_model"):
            added = {name for n in _test_loops(source, call) for name, _ in additions(source, n)}
            values = [other for value in call.args[:1] for other in source.latest(value)]
            names = {last(part) for value in values for part in ast.walk(value)}
            if names & added - {""} or any(_of_test(source, value) for value in call.args[:1]):
                yield call


def _test_loops(source: Source, node: ast.AST) -> list[ast.For]:
    """The loops that evaluate above, in the same function, if all of them do it on a test set."""
    above = [n for n in evaluations(source) if n.lineno < getattr(node, "lineno", 0)]
    loops = [n for n in above if source.home(n) is source.home(node)]
    return loops if all(named(loader_of(source, loop.iter), TEST) for loop in loops) else []


def _of_test(source: Source, node: ast.expr) -> bool:
    """Whether a metric is named after a test set, or computed from a loader with such a name."""
    if named(node, "test") and not named(node, "train|val|valid|best"):
        return True
    node = node.value if isinstance(node, ast.Subscript) else node  # of a dict of metrics
    made = [value for value in source.assigned(node) if value.lineno < node.lineno]
    if made and isinstance(made[-1], (ast.Name, ast.Subscript)):
        return _of_test(source, made[-1])
    loaders = [getattr(value, "args", []) for value in made]
    if any(named(loader, r"\w*val\w*|dev") for values in loaders for loader in values):
        return False
    return any(named(value, TEST) for values in loaders[-1:] for value in values)
