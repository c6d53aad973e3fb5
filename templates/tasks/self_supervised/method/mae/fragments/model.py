import torch

#: slot functions
def to_patches(images: Tensor, patches: int) -> Tensor:
    """The pixels of patches, row by row: (batch, patches, channels * size * size)."""
    side = round(patches**0.5)
    rows = images.unflatten(3, (side, -1)).unflatten(2, (side, -1))
    return rows.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


def to_images(patches: Tensor, channels: int) -> Tensor:
    """The images of these patches, shape (batch, channels, size, size)."""
    side, size = round(patches.shape[1] ** 0.5), round((patches.shape[2] / channels) ** 0.5)
    rows = patches.unflatten(2, (channels, size, size)).unflatten(1, (side, side))
    return rows.permute(0, 3, 1, 4, 2, 5).flatten(4).flatten(2, 3)

#: slot model
class MaskedAutoencoder(nn.Module):
    """Features of images, shape (batch, width), or the pixels of all patches if `seen` is given.

    A transformer encodes the visible patches, and a smaller one reconstructs all patches.
    He and others 2022, https://arxiv.org/abs/2111.06377
    """

    def __init__(self, config, channels: int, size: int, heads: int = 4) -> None:
        super().__init__()
        width, half = config.width, config.width // 2
        self.patches = (size // config.patch_size) ** 2
        pixels = channels * config.patch_size**2
        self.embed = nn.Linear(pixels, width)
        self.places = nn.Parameter(torch.randn(1, self.patches, width))
        self.encoder = build_transformer(width, heads, config.layers)
        self.bridge = nn.Linear(width, half)
        self.hidden = nn.Parameter(torch.zeros(1, 1, half))  # mask token: stands for masked patches
        self.decoder_places = nn.Parameter(torch.randn(1, self.patches, half))
        self.decoder = build_transformer(half, heads, layers=1)
        self.pixels = nn.Linear(half, pixels)

    def forward(self, images: Tensor, seen: Tensor | None = None) -> Tensor:
        patches = to_patches((images - 0.5) / 0.25, self.patches)  # mean near 0, std near 1
        tokens = self.embed(patches) + self.places
        if seen is None:
            return self.encoder(tokens).mean(dim=1)
        rows = seen.unsqueeze(2)
        some = tokens.gather(1, rows.expand(-1, -1, tokens.shape[2]))
        known = self.bridge(self.encoder(some))
        hidden = self.hidden.to(known.dtype).expand(len(images), self.patches, -1)
        tokens = hidden.scatter(1, rows.expand(-1, -1, known.shape[2]), known)
        return self.pixels(self.decoder(tokens + self.decoder_places))


def build_transformer(width: int, heads: int, layers: int) -> nn.Module:
    layer = nn.TransformerEncoderLayer(
        width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )
    # the default warns that norm_first disables nested tensors
    settings = {"norm": nn.LayerNorm(width), "enable_nested_tensor": False}
    return nn.TransformerEncoder(layer, layers, **settings)

#: slot build_model
def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    size = {{ task.size }}
    if size % config.patch_size or size == config.patch_size:
        raise SystemExit(
            f"--patch-size {config.patch_size} does not divide {size} pixels into several patches."
        )
    if config.width % 8:
        raise SystemExit(f"--width {config.width} is not a multiple of 8, for the attention heads.")
    return MaskedAutoencoder(config, {{ task.channels }}, size)
