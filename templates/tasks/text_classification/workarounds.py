from torch import nn

#: slot functions when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
def exclude_embeddings(model: nn.Module) -> None:
    """Accelerate 1.15: FSDP 2 wraps the embeddings, and fails if the model names them as a layer.

    Call this before prepare(). Delete it when Accelerate skips embeddings that are a layer.
    """
    names = model._no_split_modules or ()
    model._no_split_modules = [name for name in names if "Embeddings" not in name]
