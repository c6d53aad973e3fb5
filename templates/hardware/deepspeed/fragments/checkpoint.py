#: replace weights
weights = accelerator.get_state_dict(model)

#: replace load_weights
def load_weights(accelerator: Accelerator, model, path: Path) -> None:
    """Load what save_weights saved, into the prepared model. All processes call it together."""
    from deepspeed import zero  # which takes seconds to import

    ...  #: slot load_weights
    # stage 3 gathers the parts, and keeps what the main process has loaded
    with zero.GatheredParameters(list(model.parameters()), modifier_rank=0):
        accelerator.unwrap_model(model).load_state_dict(weights, strict=False)


