"""The test set chooses the model, so its result is too good: it is the best of many tries."""

from scaffold.check.loops import Found, Source, ast, evaluations, last, loader_of, named

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
        nodes = list(source.within(node))
        tests = [n for n in ast.walk(node.test) if isinstance(n, ast.Compare)]
        above = [n for n in evaluations(source) if n.lineno < node.lineno]
        loops = [n for n in above if source.home(n) is source.home(node)]
        alone = loops and all(named(loader_of(source, loop.iter), TEST) for loop in loops)
        stored = [last(n) for n in nodes if isinstance(getattr(n, "ctx", None), ast.Store)]
        for test in tests:
            sides = [test.left, *test.comparators]
            best = any(named(side, r"best\w*|\w*_best") and last(side) in stored for side in sides)
            if best and (alone or any(_of_test(source, s) for s in sides)):
                yield node


def _of_test(source: Source, node: ast.expr) -> bool:
    """Whether a metric is named after a test set, or computed from a loader with such a name."""
    if named(node, "test") and not named(node, "train|val|valid|best"):
        return True
    values = [value for made in source.assigned(node)[-1:] for value in getattr(made, "args", [])]
    return any(named(value, TEST) for value in values)
