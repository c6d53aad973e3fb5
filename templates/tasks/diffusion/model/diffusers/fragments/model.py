from diffusers import UNet2DModel

#: slot model
class UNet(nn.Module):
    """The U-Net of diffusers: predictions for noisy images, in the same shape."""

    def __init__(self, **settings) -> None:
        super().__init__()
        self.model = UNet2DModel(**settings)

    #: region forward
    def forward(self, noisy: Tensor, times: Tensor) -> Tensor:
        return self.model(noisy, times).sample
    #: end forward

#: slot build_model
if config.width % 8:
    raise SystemExit(f"--width {config.width} is not a multiple of 8, the number of groups.")
channels, size, _ = image_shape(config)
if size % 2 ** (config.levels - 1):
    raise SystemExit(f"Images of {size} pixels can't be halved that often: lower --levels.")
return UNet(
    sample_size=size,
    in_channels=channels,
    out_channels=channels,
    block_out_channels=[config.width * min(2**level, 4) for level in range(config.levels)],
    down_block_types=["DownBlock2D"] * (config.levels - 1) + ["AttnDownBlock2D"],
    up_block_types=["AttnUpBlock2D"] + ["UpBlock2D"] * (config.levels - 1),
    norm_num_groups=8,
    #: slot settings
)
