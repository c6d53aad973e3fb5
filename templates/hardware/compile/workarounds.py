from torch import nn

#: slot functions when regional=false
def release_compiled_model(model: nn.Module) -> None:
    """PyTorch 2.13: a compiled model refers to itself.

    Its memory would not be freed before the script ends. Delete this when a model whose compile()
    was called is freed without the garbage collector.
    """
    model._compiled_call_impl = None
