import torch

#: replace forward
def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    # no mask: transformers builds one from the positions, where each 0 begins a text
    return self.model(input_ids=tokens, position_ids=positions).logits

#: slot checks
check_packing(model, config.model_name)

#: slot functions
@torch.no_grad()
def check_packing(model: nn.Module, name: str) -> None:
    """Stop if the texts of a row see each other, because the model ignores the positions."""
    tokens, positions = torch.arange(8).view(2, 4), torch.arange(4).repeat(2, 1)
    apart = model.eval()(tokens, positions)
    packed = model(tokens.view(1, 8), positions.view(1, 8)).view_as(apart)
    if not torch.allclose(packed, apart, rtol=0, atol=1e-3 * float(apart.abs().max())):
        raise SystemExit(f"--model-name {name} mixes the texts of a row: train without packing.")
