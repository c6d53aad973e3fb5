#: slot functions
def gather_texts(accelerator: Accelerator, *values: Tensor) -> list[Tensor]:
    """Values for each text of an evaluation, without what only pads the last batch.

    Each is there once: the processes that share layers have the same texts.
    """
    sharing = processes_per_layer(accelerator)
    # those that share layers stand next to each other
    texts = [accelerator.gather(part).view(-1, sharing, len(part))[:, 0] for part in values]
    state = accelerator.gradient_state
    end = state.remainder if state.end_of_dataloader and state.remainder > 0 else None
    return [part.flatten()[:end] for part in texts]
