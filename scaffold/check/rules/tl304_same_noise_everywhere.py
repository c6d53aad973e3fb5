"""All processes have the same seed, so they draw the same noise (and dropout) for their batches."""

from scaffold.check.loops import Found, Source, ast, has_processes, last, steps_of, word

MEND = "After prepare(), call set_seed(seed, device_specific=True)."
WRONG = """
accelerator = Accelerator()
set_seed(42)
for images in loader:
    noise = torch.randn_like(images)
    accelerator.backward(model(images + noise).loss)
"""
RIGHT = WRONG.replace("42", "42, device_specific=True")
DRAWS = ("rand", "randn", "rand_like", "randn_like", "randint", "normal", "bernoulli", "randperm")
OWN = ("device_specific", "rank", "process_index")  # of each process


def find(source: Source) -> Found:
    seeds, prepares = source.calls("set_seed"), source.calls("prepare")
    seeds += [c for c in source.calls("manual_seed") if source.is_a(c.func, "torch.manual_seed")]
    others = source.calls("manual_seed", "manual_seed_all", "seed_everything")
    parts = [part for call in (*seeds, *others) for part in (call, *call.args)]
    given = [v for n in parts for v in (n, *source.values(n), *source.assigned(n))]
    own = any(name in ast.unparse(value) for value in given for name in OWN)
    calls = [call for step in steps_of(source) for call in step.calls(*DRAWS)]
    free = [call for call in calls if word(call, "generator") is None]
    draws = any(last(getattr(call.func, "value", None)) == "torch" for call in free)
    drops = steps_of(source) and any(name.startswith("Dropout") for name in source.called)
    for seed in seeds if has_processes(source) and not own else ():
        homes = [source.home(call) for call in prepares if call.lineno < seed.lineno]
        before = drops and any(call.lineno > seed.lineno for call in prepares)
        if draws or before or (last(seed) == "set_seed" and source.home(seed) in homes):
            yield seed
