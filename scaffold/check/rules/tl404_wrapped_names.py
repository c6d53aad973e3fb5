"""The weights of a wrapped model are saved: their names begin with `module.` or `_orig_mod.`"""

from scaffold.check.loops import Found, Source, ast, last

MEND = "Save model.module.state_dict(), or accelerator.unwrap_model(model).state_dict()."
WRONG = """
model = DistributedDataParallel(model)
torch.save(model.state_dict(), "model.pt")
"""
RIGHT = WRONG.replace("model.state_dict", "model.module.state_dict")
WRAPS = ("DistributedDataParallel", "DDP", "DataParallel", "compile", "prepare", "prepare_model")
SAVES = ("save", "save_file", "save_on_master", "save_checkpoint")


def find(source: Source) -> Found:
    loaded = {ast.unparse(getattr(n.func, "value", n)) for n in source.calls("load_state_dict")}
    for call in source.calls("state_dict"):
        owner, above = getattr(call.func, "value", call), list(source.above(call))
        saved = any(isinstance(n, ast.Call) and last(n) in SAVES for n in above)
        # what is loaded into the same wrapper fits
        if (saved or isinstance(above[0], ast.Dict)) and ast.unparse(owner) not in loaded:
            for made in source.assigned(owner)[-1:]:
                given = [last(value) for value in getattr(made, "args", [])]
                if last(made) in WRAPS and (last(made) != "prepare" or last(owner) in given):
                    yield call
