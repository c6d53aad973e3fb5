#: replace compute_loss
def compute_loss(
    model: nn.Module, images: Tensor, noise: Tensor, times: Tensor, labels: Tensor
) -> Tensor:
    """The mean squared error of each image, shape (batch,)."""
    images = 2 * images - 1
    outputs = model(add_noise(images, noise, times), times, labels)
