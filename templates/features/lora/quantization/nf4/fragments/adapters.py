from quantization import quantize

#: replace signature
def add_adapters(model: nn.Module, config, rounded: bool = False) -> nn.Module:

#: slot frozen
quantize(model, config, rounded)

#: replace adapted
model = add_adapters(model, config, rounded=True)
