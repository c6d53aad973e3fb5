#: replace embed
def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    if positions is None:  # whole texts
        positions = torch.arange(tokens.shape[1], device=tokens.device)
    x = self.dropout(self.embedding(tokens) + self.positions(positions))
