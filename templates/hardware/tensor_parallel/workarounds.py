from accelerate import Accelerator

#: slot functions
def skip_tensor_parallel_preparation(accelerator: Accelerator) -> None:
    """Accelerate 1.15: prepare() asks transformers for a class that 5.23 no longer has.

    It would fail, and nothing is left to prepare. Delete this when prepare() accepts a model whose
    layers are already cut.
    """
    accelerator._prepare_tp = lambda *prepared: prepared
