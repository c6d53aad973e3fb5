import torch.nn.functional as F

#: slot blocks
class Block(nn.Module):
    """Attention and an MLP, each with pre-norm and a residual connection.

    Without a mask, attention is causal.
    """

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.head_width = width // heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.projection = nn.Linear(width, width, bias=False)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width, bias=False),
            nn.GELU(),
            nn.Linear(4 * width, width, bias=False),
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, angles: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.dropout(self.attend(self.attention_norm(x), angles, mask))
        return x + self.dropout(self.mlp(self.mlp_norm(x)))

    def attend(self, x: Tensor, angles: Tensor, mask: Tensor | None) -> Tensor:
        # (batch, length, 3 * width) to three of (batch, heads, length, width / heads); the layer
        # keeps the parts of a head together, so that it can be divided between heads
        parts = self.query_key_value(x).unflatten(-1, (-1, 3, self.head_width)).transpose(1, 2)
        query, key, value = parts.unbind(dim=3)
        query, key = rotate(query, angles), rotate(key, angles)
        mixed = F.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, is_causal=mask is None
        )
        return self.projection(mixed.transpose(1, 2).flatten(2))


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Rotate each pair of values by an angle that grows with the position.

    The product of a query and a key then depends on their distance (Su et al. 2021,
    https://arxiv.org/abs/2104.09864).
    """
    one, other = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([one * cos - other * sin, one * sin + other * cos], dim=-1).to(x.dtype)
