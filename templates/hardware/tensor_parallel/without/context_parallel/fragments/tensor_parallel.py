#: slot functions
def gather_texts(accelerator: Accelerator, *values: Tensor) -> list[Tensor]:
    """The values of each text of an evaluation, without the padding of the last batch.

    Processes that share layers have the same texts, so each text counts once.
    """
    sharing = processes_per_layer(accelerator)
    # processes that share layers have neighboring ranks
    texts = [accelerator.gather(part).view(-1, sharing, len(part))[:, 0] for part in values]
    state = accelerator.gradient_state
    end = state.remainder if state.end_of_dataloader and state.remainder > 0 else None
    return [part.flatten()[:end] for part in texts]
