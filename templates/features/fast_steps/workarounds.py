import sys
from importlib.util import find_spec

from accelerate.optimizer import AcceleratedOptimizer

#: slot functions
def skip_search_for_lomo() -> None:
    """Accelerate 1.15: optimizer.step() searches the disk for lomo_optim, which slows small models.

    Delete this when is_lomo_available() remembers its result.
    """
    if find_spec("lomo_optim") is None:
        sys.modules["lomo_optim"] = None


def skip_signature_of_zero_grad() -> None:
    """Accelerate 1.15: optimizer.zero_grad() inspects a signature, which slows small models.

    Delete this when AcceleratedOptimizer.zero_grad() does not call inspect.signature().
    """

    def zero_grad(optimizer, *args, **kwargs) -> None:
        if optimizer.gradient_state.sync_gradients:
            optimizer.optimizer.zero_grad(*args, **kwargs)

    AcceleratedOptimizer.zero_grad = zero_grad
