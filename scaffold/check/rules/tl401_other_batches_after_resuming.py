"""A resumed epoch skips the first batches of a new order: some come twice, others never."""

from scaffold.check.loops import Found, Source, ast, is_constant, last, steps_of, word

MEND = "Use DataLoaderConfiguration(use_seedable_sampler=True), and set_epoch() before skipping."
WRONG = """
accelerator = Accelerator()
loader = accelerator.prepare(DataLoader(data, shuffle=True))
for batch in accelerator.skip_first_batches(loader, done):
    accelerator.backward(model(batch).loss)
"""
ORDER = "dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=0)"
RIGHT = WRONG.replace("or()", f"or({ORDER})").replace("for b", "loader.set_epoch(epoch)\nfor b")


def find(source: Source) -> Found:
    words = {found.arg for call, _ in source.facts.calls for found in call.keywords}
    known = "set_epoch" in source.called and "use_seedable_sampler" in words
    known |= "use_stateful_dataloader" in words or "Accelerator" not in source.called
    shuffles = [word(call, "shuffle") for call in source.calls("DataLoader")]
    shuffled = any(found and not is_constant(found, False) for found in shuffles)
    if not known and (shuffled or "use_seedable_sampler" in words):
        yield from source.calls("skip_first_batches")
        nodes = (node for step in steps_of(source) for node in source.within(step.node))
        yield from (node for node in nodes if isinstance(node, ast.If) and _skips(node))


def _skips(node: ast.If) -> bool:
    """Whether batches are passed over until a resumed run is where it was."""
    names = " ".join(last(part) for part in ast.walk(node.test))
    less = any(isinstance(part, ast.Lt | ast.LtE) for part in ast.walk(node.test))
    known = any(name in names for name in ("resume", "skip", "start"))
    return less and known and isinstance(node.body[-1], ast.Continue)
