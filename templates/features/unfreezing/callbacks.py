#: slot classes
def unfreeze(optimizer, stage: int) -> None:
    """Unfreeze the last `stage` + 1 layers, and freeze the rest.

    Call it after prepare(): gradients of layers that are frozen there are never averaged.
    """
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.requires_grad_(group["depth"] <= stage)
