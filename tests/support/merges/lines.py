"""Lines of the owner's beside those of the update, and in lines that the update indents."""

from corpus.edit import CALLBACKS, CONFIG, TRAIN, both
from corpus.script import after, before, cut, define, delete, replace, sub, wrap
from support.merges.case import case
from support.merges.words import (
    ACCUMULATED,
    BACKWARD,
    BF16,
    CLEARED,
    COUNTED,
    EMA,
    EPOCH_DONE,
    FREED,
    LOGGED,
    LOOP,
    LOSS,
    NAN,
    NO_CLIP,
    NO_EMA,
    NO_NAN,
    NO_STOP,
    NO_WINDOW,
    OWN_LOSS,
    OWN_METRIC,
    PARTS,
    SAVED,
    STEP,
    STOP,
    TENSORBOARD,
    WINDOW,
    comment,
    default,
)

# lines beside those of the update

edit = after('values = {"loss"', 'log(f"memory {torch.cuda.max_memory_allocated():,}")')
case("neighbours: own log line above a call that goes", edit, NO_NAN, start=NAN)
also = [after(r"ema\.update\(", "torch.cuda.empty_cache()")]
case("neighbours: own line where one is inserted", FREED, EMA, also=also)
edit = before('batch = f"batch', "config = replace(config, seed=1)", path=CONFIG)
case("neighbours: own line above a changed one", edit, WINDOW)
also = [before(r"progress\.step \+= 1", "torch.cuda.empty_cache()")]
case("neighbours: own line where a condition is inserted", FREED, BF16, also=also)
edit = replace(CLEARED, "optimizer.zero_grad(set_to_none=False)")
case("neighbours: call in the line above an inserted one", edit, EMA)
edit = sub(f"{CLEARED}\\)", r"\g<0>  # which saves memory")
case("neighbours: trailing comment above an inserted line", edit, EMA)
edit = replace(
    r"if progress\.step >= total_steps and", "if progress.step >= total_steps - 1:\n    break"
)
case("neighbours: condition below lines that go", edit, NO_STOP, start=STOP)
edit = before(r"schedule\.step\(", "# the schedule, for all groups alike")
case("neighbours: comment between two lines, of which one goes", edit, NO_CLIP)
edit = default("batch_size", "256")
case("neighbours: two defaults beside each other", edit, {"training.learning_rate": 0.01})
edit = comment("learning_rate", "table 3 of the paper")
case("neighbours: comment of the line whose value changes", edit, {"training.learning_rate": 0.01})
case(
    "neighbours: own line between two that both go",
    before(r"accelerator\.init_trackers\(", "log('starting')"),
    {"features.tracker.enabled": False},
    result=after(r"config = broadcast_object_list\(", "log('starting')"),
    start=TENSORBOARD,
)
case("neighbours: log line deleted beside an inserted one", delete(LOGGED), TENSORBOARD)
edit = sub('"""Objects that the loop', '"""Our own objects that the loop', path=CALLBACKS)
case("neighbours: docstring above lines that go", edit, NO_EMA, start=EMA)

# lines that the update indents

edit = replace(
    LOSS,
    """
        loss = compute_loss(
            model(images), labels, label_smoothing=0.1
        ).mean()
        """,
)
case("indentation: keyword in the loss, in a window", edit, WINDOW)
case("indentation: own loss, in a window", OWN_LOSS, WINDOW)
case("indentation: own loss, out of a window", OWN_LOSS, NO_WINDOW, start=WINDOW)
NOISE = """
    if config.seed:
        images = images + 0.01 * torch.randn_like(images)
        # never below black
        images = images.clamp(min=0)
"""
edit = before(LOSS, NOISE)
also = [before(ACCUMULATED, NOISE)]
case("indentation: lines between those of the forward pass", edit, WINDOW, also=also)
edit = sub(f"{LOSS}.*", r"\g<0>  # of the batch")
case("indentation: trailing comment, in a window", edit, WINDOW)
case("indentation: own metric, in the average", OWN_METRIC, EMA)
case("indentation: own metric, out of the average", OWN_METRIC, NO_EMA, start=EMA)
case("indentation: own metric, there and back", OWN_METRIC, EMA, NO_EMA)
edit = sub(r'update\(metrics\["val_accuracy"\], model', 'update(-metrics["val_loss"], model')
case("indentation: another criterion, in the average", edit, EMA)
KEPT = """
    if epoch % 5 == 0:
        save_weights(accelerator, model, config.output_dir / f"epoch_{epoch}.safetensors")
"""
edit = after(r"early_stopping\.update\(", KEPT)
also = [before(EPOCH_DONE, KEPT)]
case("indentation: own block at the end of the average", edit, EMA, also=also, start=STOP)
PROFILED = wrap(
    LOOP,
    SAVED,
    "with torch.profiler.profile() as profiler:",
    tail="log(profiler.key_averages().table())",
)
case("indentation: loop in a profiler, and the average in it", PROFILED, EMA)
case("indentation: loop in a profiler, and a window in it", PROFILED, WINDOW)
case("indentation: loop in a profiler, and a feature of it goes", PROFILED, NO_STOP, start=STOP)
case(
    "indentation: own line in a loop, of which a window takes only a part into its own",
    FREED,
    WINDOW,
    start={"project.task": "text_classification"},
)
FINALLY = wrap(LOOP, SAVED, "try:", tail='finally:\n    log(f"ended at step {progress.step}")')
case("indentation: loop in try and finally, and a tracker", FINALLY, TENSORBOARD)
case("indentation: loop in try and finally, and a window", FINALLY, WINDOW)
edit = wrap(LOSS, COUNTED, "with accelerator.autocast():")
case("indentation: forward pass in a block of its own, in a window", edit, WINDOW)
FORWARD = '''
    def forward(model, images, labels, train_loss):
        """The loss of a batch, counted."""
        loss = compute_loss(model(images), labels).mean()
        train_loss.add(loss, len(labels))
        return loss
'''
edit = both(
    cut(LOSS, COUNTED, "loss = forward(model, images, labels, train_loss)"), define(FORWARD)
)
case("indentation: forward pass as a function, in a window", edit, WINDOW)

# lines that go to different depths

BATCH = r"progress\.batch \+= 1"
START = before(LOOP, "count = 0")

for name, text in {
    "second optimizer": "head_optimizer.step()\nhead_optimizer.zero_grad()",
    "gradient noise": """
        for parameter in model.parameters():
            parameter.grad.add_(0.01 * torch.randn_like(parameter.grad))
    """,
    "first step of SAM": """
        optimizer.first_step(zero_grad=True)
        compute_loss(model(images), labels).mean().backward()
    """,
    "second loss": "accelerator.backward(0.1 * model(images).pow(2).mean())",
    "scheduler": "scheduler.step()",
    "counter": "count += 1",
    "step on a condition": "if progress.step % 10 == 0:\n    optimizer.step()",
}.items():
    edit = both(START, after(BACKWARD, text))
    case(f"depth: {name} behind backward", edit, WINDOW, asks=TRAIN)
    if name in ("second optimizer", "counter"):
        case(f"depth: {name} in small parts", edit, PARTS, asks=TRAIN)
edit = both(cut(STEP, CLEARED), after(BACKWARD, "optimizer.step()\noptimizer.zero_grad()"))
case("depth: own step behind backward", edit, WINDOW, asks=TRAIN)
# the gradients are complete when all parts are done: clipped before, they would be others
CLIP = "nn.utils.clip_grad_value_(model.parameters(), 0.5)"
edit, result = after(BACKWARD, CLIP), before(BATCH, CLIP)
case("depth: clipping by value behind backward", edit, PARTS, result=result)
# each part has its labels, and the counter is the owner's: only the inner loop counts all
SAMPLES = both(START, after(BACKWARD, "count += len(labels)"))
case("depth: samples counted behind backward", SAMPLES, WINDOW, result=SAMPLES, asks=TRAIN)
for name, anchor, text in (
    ("samples behind the batch", BATCH, "count += len(labels)"),
    ("hits", STEP, "count = count + int((model(images).argmax(-1) == labels).sum())"),
    ("an own average", r"progress\.step \+= 1", "own_loss.add(loss, len(images))"),
):
    case(f"depth: {name}", both(START, after(anchor, text)), WINDOW, asks=TRAIN)
for name, text in {
    "zero_grad": "optimizer.zero_grad()",
    "a hook": "my_hook(progress.step)",
    "a learning rate": 'optimizer.param_groups[0]["lr"] *= 0.99',
}.items():
    case(f"depth: {name} first in a step", before(LOSS, text), WINDOW, asks=TRAIN)
for name, edit in {
    "line at the end of a step": FREED,
    "print behind the forward pass": after(LOSS, "print(loss.item())"),
    "penalty": after(LOSS, "loss = loss + 0.1 * sum(p.norm() for p in model.parameters())"),
    "clamp behind the step": after(
        STEP,
        """
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.clamp_(-1, 1)
        """,
    ),
    "print behind the step": after(CLEARED, "print(loss.item())"),
}.items():
    case(f"depth: {name}", edit, WINDOW)
edit = before(LOSS, "images = images + 0.1")
also = [before(ACCUMULATED, "images = images + 0.1")]
case("depth: noise in front of the forward pass", edit, WINDOW, also=also)
edit = after(BACKWARD, "torch.cuda.synchronize()")
case("depth: out of the window, a line at the end of each part", edit, NO_WINDOW, start=WINDOW)

# gradients, sums and values of the owner's own, where a step has several parts

CLEAR, AWAY = "optimizer.zero_grad()", delete(CLEARED)
for name, edit in {
    "gradients cleared before the forward pass": both(AWAY, before(LOSS, CLEAR, "main")),
    "gradients cleared behind it": both(AWAY, after(LOSS, CLEAR, "main")),
    "gradients cleared before backward": both(AWAY, before(BACKWARD, CLEAR, "main")),
    "gradients cleared on a condition": both(
        AWAY, after(LOSS, f"if progress.step:\n    {CLEAR}", "main")
    ),
    "a sum over a step or a part": before(LOSS, "total = 0.0\ntotal = total + 1", "main"),
    "a line that leaves the loop": before(LOSS, "if len(labels) < 8:\n    continue", "main"),
}.items():
    case(f"parts: {name}", edit, WINDOW, asks=TRAIN)
case("parts: own line for each step", after(STEP, "model.step()"), WINDOW)
edit = sub(r"for images, labels in bar:$", "for number, (images, labels) in enumerate(bar):")
case("parts: numbers of batches", edit, WINDOW)
edit = before(LOSS, "images.requires_grad_()")
also = [before(ACCUMULATED, "images.requires_grad_()")]
case("parts: images that need a gradient", edit, WINDOW, also=also)
