import train
from data import build_loaders

#: slot settings
"eval_batch_size": 64,

#: slot tests
def test_evaluation_has_batches_of_its_own():
    loaders = build_loaders(train.Config(**{**SETTINGS, "batch_size": 8, "eval_batch_size": 5}))
    assert [loader.batch_size for loader in loaders] == [8, 5, 5]
