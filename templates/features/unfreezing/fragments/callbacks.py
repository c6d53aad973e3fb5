#: slot classes
def unfreeze(optimizer, stage: int) -> None:
    """Let the layers learn that are at most `stage` away from the last one, and no others.

    Call it after prepare(): what is frozen there is never averaged over the processes.
    """
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.requires_grad_(group["depth"] <= stage)
