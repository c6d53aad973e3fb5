"""All processes write the same file at once, which can leave it damaged."""

import re

from scaffold.check.loops import Found, Source, around, ast, has_processes, last, steps_of, word

MEND = "Save on the main process only: accelerator.save(), or below `if rank == 0`."
WRONG = """
accelerator = Accelerator()
accelerator.backward(loss)
torch.save(accelerator.get_state_dict(model), "model.pt")
"""
RIGHT = WRONG.replace("torch.save", "accelerator.save")
MAIN = r"rank|main_|_main|master|primary|leader|gpu|world|process|should_save|distrib|initialized"


def find(source: Source) -> Found:
    files = ("torch.save", "safetensors.torch.save_file")
    names = ("save", "save_file", "save_pretrained") if has_processes(source) else ()
    for call in source.calls(*names) if steps_of(source) else ():
        whole = last(call.func) == "save_pretrained" and word(call, "is_main_process") is None
        path = [*call.args[0 if whole else 1 :], *(found.value for found in call.keywords)]
        parts = [part for value in path for part in ast.walk(value) if isinstance(part, ast.Name)]
        path += [value for part in parts for value in source.latest(part)]
        writes = whole or source.is_a(call.func, *files)
        if writes and not any(map(_names_one, path)) and not _guarded(source, call):
            yield call


def _names_one(node: ast.AST) -> bool:
    return bool(re.search(MAIN, ast.unparse(node).lower().replace("__main__", "")))


def _guarded(source: Source, call: ast.Call) -> bool:
    """Whether a condition on the process is around a call, or around calls of its function."""
    nodes = around(source, call)
    nodes += [n for home in nodes for n in source.within(home) if isinstance(n, ast.Return)]
    tests = [part.test for n in nodes for part in source.above(n) if isinstance(part, ast.If)]
    hooks = [last(value) for c in source.calls("register_save_state_pre_hook") for value in c.args]
    return any(map(_names_one, tests)) or getattr(source.home(call), "name", "") in hooks
