"""Rows that pad the last batches are evaluated, so the result depends on the processes.

Accelerate gives all processes equally many rows, and repeats some for that. `gather` keeps those,
and `gather_for_metrics` can't cut them from what was added up over the loop.
"""

from scaffold.check.loops import Found, Source, ast, evaluations, is_accelerator, last, steps_of

MEND = "Call gather_for_metrics() on the rows of each batch, inside of the loop."
WRONG = """
for inputs, labels in eval_loader:
    predictions = accelerator.gather(model(inputs).argmax(-1))
    metric.add_batch(predictions=predictions, references=accelerator.gather(labels))
"""
RIGHT = WRONG.replace("gather(", "gather_for_metrics(")


def find(source: Source) -> Found:
    training = {id(node) for step in steps_of(source) for node in source.within(step.node)}
    for call in source.calls("gather", "gather_for_metrics"):
        if is_accelerator(source, call) and id(call) not in training:
            above, home = list(source.above(call)), source.home(call)
            loops = [loop for loop in evaluations(source) if source.home(loop) is home]
            inside = [node for loop in loops if loop in above for node in source.within(loop)]
            if last(call.func) == "gather":
                cut = any(isinstance(node, ast.Slice) and node.upper for node in inside)
                if (inside and not cut) or _logs_evaluation(source, home):
                    yield call
            elif last(above[0]) in ("sum", "mean") and loops and not inside:
                yield call


def _logs_evaluation(source: Source, home: ast.AST) -> bool:
    """Whether metrics are logged by `mode = "train" if self.model.training else "eval"`."""
    text = "".join(ast.unparse(n) for n in source.within(home) if isinstance(n, ast.Assign))
    return "if self.model.training else 'eval'" in text
