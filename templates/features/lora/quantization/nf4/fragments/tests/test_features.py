from copy import deepcopy
from quantization import Frozen4bit, quantize

#: slot frozen
quantize(model, config, rounded=True)

#: slot tests
def test_frozen_layers_have_4_bits_and_compute_as_rounded_ones():
    config = train.Config(**SETTINGS)
    small = build_model(config)
    rounded = deepcopy(small)
    quantize(small, config)
    quantize(rounded, config, rounded=True)
    layers = [layer for layer in small.modules() if isinstance(layer, Frozen4bit)]
    assert layers and all(layer.weight.dtype == torch.uint8 for layer in layers)
    assert small.state_dict().keys() < rounded.state_dict().keys()
    torch.testing.assert_close(outputs_of(small), outputs_of(rounded), rtol=0, atol=1e-4)
