"""A loss is kept together with its graph, so memory grows with each batch."""

from scaffold.check.loops import Found, Source, ast, last, steps_of

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
        names = [node for node in source.within(step.node) if isinstance(node, ast.Name)]
        for node in source.within(step.node) if step.loops else ():
            match node:
                case ast.AugAssign(target=target, op=ast.Add(), value=value) | ast.Call(
                    func=ast.Attribute(attr="append", value=target), args=[value]
                ) if (last(target) not in step.losses):
                    kept = [value.left, value.right] if isinstance(value, ast.BinOp) else [value]
                    loss = any(isinstance(n, ast.Name) and n.id in step.losses for n in kept)
                    # a target that is used or emptied in the loop may need the graph
                    if loss and sum(name.id == last(target) for name in names) <= 1:
                        yield node
