from collections.abc import Iterator
from contextlib import contextmanager

from accelerate import Accelerator, DeepSpeedPlugin
from accelerate.optimizer import AcceleratedOptimizer
from accelerate.utils import DistributedType
from torch import Tensor

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

#: slot functions with clipping
def read_grad_norm(accelerator: Accelerator, grad_norm: Tensor | float | None) -> Tensor | float:
    """Accelerate 1.15: with DeepSpeed, clip_grad_norm_() returns the norm of the previous step.

    The first step would have none, which can't be logged. Call this after optimizer.step(). Delete
    it when clip_grad_norm_() returns the norm of its own step.
    """
    if accelerator.distributed_type != DistributedType.DEEPSPEED:
        return grad_norm
    norm = accelerator.deepspeed_engine_wrapped.get_global_grad_norm()
    return float("nan") if norm is None else norm  # stage 0 computes none
