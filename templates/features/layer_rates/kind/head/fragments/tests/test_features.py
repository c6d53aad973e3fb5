import pytest
from parameter_groups import group_parameters
from torch import nn

#: slot tests
def test_the_head_is_the_last_part_or_the_one_that_is_named():
    model = nn.ModuleDict({name: nn.Linear(2, 2) for name in ("body", "neck", "head")})
    for names, parts in (("", ["head"]), ("neck,head", ["neck", "head"])):
        groups = group_parameters(model, names, 1.0, 0.1)
        found = {parameter for group in groups[:2] for parameter in group["params"]}
        assert found == {parameter for part in parts for parameter in model[part].parameters()}
        assert sum(len(group["params"]) for group in groups) == 6, "a parameter is missing"
    with pytest.raises(SystemExit, match="no part 'hat' for its head; it has body, neck, head"):
        group_parameters(model, "hat", 1.0, 0.1)
