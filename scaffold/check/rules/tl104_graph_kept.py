"""A loss is kept together with its graph, so memory grows with each batch."""

from scaffold.check.loops import Found, Source, added, ast, last, steps_of

MEND = "Add loss.detach() instead."
WRONG = """
total = 0
for inputs, labels in loader:
    loss = loss_function(model(inputs), labels)
    loss.backward()
    total += loss
"""
RIGHT = WRONG.replace("+= loss", "+= loss.detach()")


def find(source: Source) -> Found:
    for step in steps_of(source):
        names = [last(node) for node in source.within(step.node) if isinstance(node, ast.Name)]
        for node in source.within(step.node) if step.loops else ():
            target, value = added(node) or (None, None)
            kept = [value.left, value.right] if isinstance(value, ast.BinOp) else [value]
            loss = any(isinstance(n, ast.Name) and n.id in step.losses for n in kept)
            if loss and last(target) not in step.losses:
                # a target that is used or emptied elsewhere in the loop may need the graph
                own = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
                if names.count(last(target)) <= [n.id for n in own].count(last(target)):
                    yield node
