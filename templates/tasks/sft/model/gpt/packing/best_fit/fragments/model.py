#: replace embed
def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    mask = None
    if positions is None:  # each row is a text
        positions = torch.arange(tokens.shape[1], device=tokens.device)
    else:  # texts in a row don't see each other
        texts = (positions == 0).cumsum(dim=1)
        mask = (texts.unsqueeze(2) == texts.unsqueeze(1)).tril().unsqueeze(1)
