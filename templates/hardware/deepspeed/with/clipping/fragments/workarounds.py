from torch import Tensor

#: slot functions
def read_grad_norm(accelerator: Accelerator, grad_norm: Tensor | float | None) -> Tensor | float:
    """Accelerate 1.15: with DeepSpeed, clip_grad_norm_() returns the norm of the previous step.

    The first step would have none, which can't be logged. Call this after optimizer.step(). Delete
    it when clip_grad_norm_() returns the norm of its own step.
    """
    if accelerator.distributed_type != DistributedType.DEEPSPEED:
        return grad_norm
    norm = accelerator.deepspeed_engine_wrapped.get_global_grad_norm()
    return float("nan") if norm is None else norm  # stage 0 computes none
