from diffusers import UNet2DModel

#: slot model
class Pretrained(nn.Module):
    """A U-Net of diffusers: predictions for noisy images, in the same shape."""

    def __init__(self, name: str) -> None:
        super().__init__()
        try:
            self.model = UNet2DModel.from_pretrained(name)
        except (OSError, ValueError) as error:
            raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error

    def forward(self, noisy: Tensor, times: Tensor) -> Tensor:
        return self.model(noisy, times).sample

#: slot build_model
name, (channels, size, _) = config.pretrained_name, image_shape(config)
model = Pretrained(name)
expected, levels = model.model.config.in_channels, len(model.model.config.block_out_channels)
if expected != channels:
    raise SystemExit(f"{name} takes images with {expected} channels, and yours have {channels}.")
if size % 2 ** (levels - 1):
    raise SystemExit(f"{name} halves images {levels - 1} times, which {size} pixels don't allow.")
return model
