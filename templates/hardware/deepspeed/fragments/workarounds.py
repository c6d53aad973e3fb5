from collections.abc import Iterator
from contextlib import contextmanager

from accelerate import Accelerator, DeepSpeedPlugin
from accelerate.optimizer import AcceleratedOptimizer
from accelerate.utils import DistributedType

#: slot functions
def build_deepspeed_plugin(gradient_clipping: float, **settings) -> DeepSpeedPlugin:
    """Accelerate 1.15: DeepSpeedPlugin ignores gradient_clipping=0.0, and clips to 1.

    Delete this when DeepSpeedPlugin(gradient_clipping=0.0) switches clipping off.
    """
    plugin = DeepSpeedPlugin(gradient_clipping=gradient_clipping, **settings)
    plugin.deepspeed_config.setdefault("gradient_clipping", gradient_clipping)
    return plugin


def leave_steps_to_the_loop(accelerator: Accelerator, optimizer: AcceleratedOptimizer) -> None:
    """Accelerate 1.15: with DeepSpeed, backward() steps, and optimizer.step() does nothing.

    A step would use the learning rate of the previous step. Delete this when optimizer.step()
    steps.
    """
    if accelerator.distributed_type == DistributedType.DEEPSPEED:
        engine = accelerator.deepspeed_engine_wrapped.engine
        accelerator.deepspeed_engine_wrapped.backward = lambda loss, **_: engine.backward(loss)
        optimizer.step = engine.step  # clips, steps, and clears the gradients
        accelerator.no_sync = keep_gradients


@contextmanager
def keep_gradients(engine) -> Iterator[None]:
    """Accumulate gradients: for each batch but the last of a step."""
    engine.set_gradient_accumulation_boundary(False)
    try:
        yield
    finally:
        engine.set_gradient_accumulation_boundary(True)
