#: slot classes
def unfreeze(optimizer, stage: int) -> None:
    """Train only the layers that are at most `stage` layers away from the last one.

    Call it after prepare(): gradients of layers that are frozen there are never averaged.
    """
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.requires_grad_(group["depth"] <= stage)
