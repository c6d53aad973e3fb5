import pytest
from parameter_groups import layer_of

#: slot tests
@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("blocks.3.norm.bias", "blocks.3"),
        ("encoder.layer.11.attention.query.weight", "encoder.layer.11"),
        ("embeddings.position.weight", "embeddings.position"),
        ("2.weight", "2"),
        ("head.weight", "head"),
        ("conv1.weight", "conv1"),
    ],
)
def test_layers_are_found_by_their_names(name, layer):
    assert layer_of(name) == layer
