"""Only the main process calls `save_state`: the random states of the others are lost.

With FSDP or DeepSpeed, it also waits forever for the other processes.
"""

from scaffold.check.loops import Found, Source, ast, last

MEND = "Call it on all processes: save_state() itself writes once what is common."
WRONG = """
if accelerator.is_main_process:
    accelerator.save_state(folder)
"""
RIGHT = "accelerator.save_state(folder)"


def find(source: Source) -> Found:
    for call in source.calls("save_state"):
        above = [call, *source.above(call)]
        blocks = [n for n in above if isinstance(n, ast.If) and set(n.body) & set(above)]
        for block in blocks:
            nodes = list(ast.walk(block.test))
            others = any(isinstance(node, ast.Or | ast.Not | ast.NotEq) for node in nodes)
            if not others and any(last(node).endswith("main_process") for node in nodes):
                yield call
