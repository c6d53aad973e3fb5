#: slot blocks
class Layers(nn.Module):
    """Layers in which each token sees the whole text, but no padding.

    A pre-norm transformer encoder (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762) with
    rotary positions.
    """

    def __init__(self, layers: int, width: int, dropout: float, heads: int = 4) -> None:
        super().__init__()
        if width % (2 * heads):
            raise SystemExit(f"--width {width} is not a multiple of {2 * heads}: {heads} heads.")
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Vectors of tokens, shape (batch, length, width), with a mask of shape (batch, length)."""
        pairs = self.blocks[0].head_width // 2
        rates = 10_000.0 ** (-torch.arange(pairs, device=x.device) / pairs)
        angles = torch.arange(x.shape[1], device=x.device).unsqueeze(1) * rates
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x, angles, mask[:, None, None])  # the same for all heads and tokens
        return self.norm(x)
