#: replace sample
@torch.no_grad()
def sample(
    model: nn.Module,
    noise: Tensor,
    labels: Tensor,
    guidance: float = 1.0,
    steps: int = SAMPLING_STEPS,
) -> Tensor:
    """Generate images of these classes, from 0 to 1, from noise."""
    noisy = noise
    for time, following in pairwise(list_times(steps)):
        times = torch.full((len(noise),), time, device=noise.device)
        outputs = guide(model, noisy, times, labels, guidance)
        noisy = denoise(noisy, outputs, time, following)
    return (noisy.clamp(-1, 1) + 1) / 2


def guide(
    model: nn.Module, noisy: Tensor, times: Tensor, labels: Tensor, guidance: float
) -> Tensor:
    """The output for the classes, moved away from the unconditional output.

    Classifier-free guidance: Ho and Salimans 2022, https://arxiv.org/abs/2207.12598. 1: off.
    """
    if guidance == 1:
        return model(noisy, times, labels)
    both = torch.cat([labels, torch.full_like(labels, ANY_CLASS)])
    outputs = model(torch.cat([noisy, noisy]), torch.cat([times, times]), both)
    of_class, of_any = outputs.chunk(2)
    return of_any + guidance * (of_class - of_any)


#: slot functions
ANY_CLASS = -1  # replaces some labels in training, so the model also learns images of any class
