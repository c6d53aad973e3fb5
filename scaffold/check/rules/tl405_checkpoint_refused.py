"""The checkpoint holds an argparse.Namespace, which `torch.load` refuses: it can't be resumed."""

from scaffold.check.loops import Found, Source, ast, is_constant, last, word

MEND = "Save vars(args), a plain dict. (weights_only=True is the default since PyTorch 2.6.)"
WRONG = """
args = ArgumentParser().parse_args()
model.load_state_dict(torch.load("last.pt", weights_only=True)["model"])
torch.save({"model": model.state_dict(), "args": args}, "last.pt")
"""
RIGHT = WRONG.replace('"args": args', '"args": vars(args)')


def find(source: Source) -> Found:
    loads = [call for call in source.calls("load") if source.is_a(call.func, "torch.load")]
    strict = any(not is_constant(word(call, "weights_only"), False) for call in loads)
    if strict and {"load_state_dict", "parse_args"} <= source.called.keys():
        for node in source.all(ast.Dict):
            values = node.values if isinstance(node, ast.Dict) else []
            for value in values if "state_dict" in map(last, values) else ():
                given = [value, *source.values(value)]
                given += [other for found in given[1:] for other in source.values(found)]
                if any(last(found) == "parse_args" for found in given):
                    yield value
