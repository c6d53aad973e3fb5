"""Each process splits the data anew, so it validates on others' training data."""

from scaffold.check.loops import Found, Source, ast, has_processes, is_constant, last, word

MEND = "Give the split a fixed seed (seed=, random_state= or generator=)."
WRONG = """
accelerator = Accelerator()
train, val = random_split(data, [0.9, 0.1])
"""
RIGHT = WRONG.replace("])", "], generator=torch.Generator().manual_seed(0))")


def find(source: Source) -> Found:
    imports = {(found.module, found.name) for found, _ in source.facts.imports}
    if has_processes(source) or ("transformers", "Trainer") in imports:
        orders = [call for call in source.calls("randperm", "permutation") if _splits(source, call)]
        for call in (*source.calls("random_split", "train_test_split"), *orders):
            seed = word(call, "seed", "random_state", "generator")
            ordered = is_constant(word(call, "shuffle"), False) or word(call, "shuffle_seed")
            known = ordered or _seeded(source, call) or not all(w.arg for w in call.keywords)
            if not known and (seed is None or _may_be_none(source, seed)):
                yield call


def _splits(source: Source, order: ast.Call) -> bool:
    """Whether an order becomes several data sets, and no process tells it the others."""
    drawn = ast.unparse(order.func) in ("torch.randperm", "np.random.permutation")
    told = any(name.startswith("broadcast") for name in source.called)
    uses = source.calls("Subset", "SubsetRandomSampler") if drawn and not told else []
    return sum(_is_from(source, use, order) for use in uses) > 1


def _is_from(source: Source, node: ast.expr, order: ast.Call, depth: int = 3) -> bool:
    parts = list(ast.walk(node))
    names = [part for part in parts if isinstance(part, ast.Name)] if depth else []
    values = [value for name in names for value in source.values(name)]
    return order in parts or any(_is_from(source, v, order, depth - 1) for v in values)


def _may_be_none(source: Source, value: ast.expr) -> bool:
    """Whether it is None, or an option of the command line with the default None."""
    for option in source.calls("add_argument") if isinstance(value, ast.Attribute) else ():
        if any(is_constant(name, f"--{last(value)}") for name in option.args):
            return is_constant(word(option, "default") or ast.Constant(None), None)
    return is_constant(value, None)


def _seeded(source: Source, call: ast.Call) -> bool:
    """Whether the same seed is set before, on all paths."""
    calls = source.calls("set_seed", "manual_seed", "seed_everything", "seed")
    sure = [c for c in calls if not any(isinstance(part, ast.If) for part in source.above(c))]
    home = source.home(call)
    before = [c for c in sure if c.lineno < call.lineno or source.home(c) is not home]
    texts = [ast.unparse(other) for other in before]
    return any("rank" not in text and "device_specific" not in text for text in texts)
