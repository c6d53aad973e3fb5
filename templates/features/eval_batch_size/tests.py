import train
from data import build_loaders
from helpers import SETTINGS

#: into tests/helpers.py
#: slot settings
"eval_batch_size": 64,

#: into tests/test_features.py
#: slot tests
def test_evaluation_has_its_own_batch_size():
    for eval_batch_size, expected in ((5, 5), (0, 32)):
        changes = {"batch_size": 8, "eval_batch_size": eval_batch_size}
        loaders = build_loaders(train.Config(**{**SETTINGS, **changes}))
        assert [loader.batch_size for loader in loaders] == [8, expected, expected]
