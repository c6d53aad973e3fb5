from diffusers import UNet2DModel

#: slot model
class Pretrained(nn.Module):
    """A U-Net of diffusers: what it has learned of noisy images, in their shape."""

    def __init__(self, name: str) -> None:
        super().__init__()
        try:
            self.model = UNet2DModel.from_pretrained(name)
        except (OSError, ValueError) as error:
            raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error

    def forward(self, noisy: Tensor, times: Tensor) -> Tensor:
        return self.model(noisy, times).sample

#: slot build_model
model, channels = Pretrained(config.pretrained_name), image_shape(config)[0]
if (expected := model.model.config.in_channels) != channels:
    raise SystemExit(
        f"{config.pretrained_name} takes images with {expected} channels, and yours have {channels}."
    )
return model
