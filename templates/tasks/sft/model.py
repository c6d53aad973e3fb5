import torch

#: replace embed when model=gpt packing=best_fit
def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    mask = None
    if positions is None:  # each row is a text
        positions = torch.arange(tokens.shape[1], device=tokens.device)
    else:  # texts in a row don't see each other
        texts = (positions == 0).cumsum(dim=1)
        mask = (texts.unsqueeze(2) == texts.unsqueeze(1)).tril().unsqueeze(1)

#: replace forward when model=pretrained packing=best_fit
def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    # no mask: transformers builds one from the positions, where each 0 begins a text
    return self.model(input_ids=tokens, position_ids=positions, use_cache=False).logits

#: slot checks when model=pretrained packing=best_fit
check_packing(model, config.model_name)

#: slot functions when model=pretrained packing=best_fit
@torch.no_grad()
def check_packing(model: nn.Module, name: str) -> None:
    """Stop if the texts of a row see each other, because the model ignores the positions."""
    tokens, positions = torch.arange(8).view(2, 4), torch.arange(4).repeat(2, 1)
    apart = model.eval()(tokens, positions)
    packed = model(tokens.view(1, 8), positions.view(1, 8)).view_as(apart)
    if not torch.allclose(packed, apart, rtol=0, atol=1e-3 * float(apart.abs().max())):
        raise SystemExit(f"--model-name {name} mixes the texts of a row: train without packing.")
