from collections.abc import Iterator
from contextlib import contextmanager

from accelerate import DeepSpeedPlugin
from accelerate.optimizer import AcceleratedOptimizer
from accelerate.utils import DistributedType

#: slot functions
def build_deepspeed_plugin(gradient_clipping: float, **settings) -> DeepSpeedPlugin:
    """The settings of DeepSpeed. It is told the norm also where that is 0: else it clips to 1."""
    plugin = DeepSpeedPlugin(gradient_clipping=gradient_clipping, **settings)
    plugin.deepspeed_config.setdefault("gradient_clipping", gradient_clipping)
    return plugin


def leave_steps_to_the_loop(accelerator: Accelerator, optimizer: AcceleratedOptimizer) -> None:
    """Let optimizer.step() make the update, after the loop has set its learning rate.

    With DeepSpeed, Accelerate would make it inside backward(), with the rate of the update before.
    """
    if accelerator.distributed_type == DistributedType.DEEPSPEED:
        wrapper = accelerator.deepspeed_engine_wrapped
        engine = wrapper.engine
        wrapper.backward = lambda loss, **_: engine.backward(loss)
        optimizer.step = engine.step  # clips, steps, and clears the gradients
        accelerator.no_sync = keep_gradients


@contextmanager
def keep_gradients(engine) -> Iterator[None]:
    """For a batch that is not the last of its update."""
    engine.set_gradient_accumulation_boundary(False)
    try:
        yield
    finally:
        engine.set_gradient_accumulation_boundary(True)

#: replace parameters
# stage 3 leaves no numbers in a parameter but its part
sizes = (getattr(weight, "ds_numel", weight.numel()) for weight in model.parameters())
parameters = sum(sizes)
engine = "on" if accelerator.distributed_type == DistributedType.DEEPSPEED else "off"

#: replace processes
f"{accelerator.num_processes} process(es) on {accelerator.device.type} | "
f"DeepSpeed {engine} | "
