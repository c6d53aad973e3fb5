from data import build_datasets, build_tokenizer, collate
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from helpers import SETTINGS, run
import train
import torch
from safetensors.torch import load_file
from model import build_model

#: slot tests
def test_texts_are_padded():
    """Padding is masked: a text gives the same logits alone and next to a longer one."""
    config = train.Config(**SETTINGS)
    tokenizer, model = build_tokenizer(config), build_model(config).eval()
    columns = len(build_datasets(config)[0][0][0])
    #: region rows
    rows = [(columns * [text], 0) for text in ("a", "a b")]
    #: end rows
    small, large = (collate(part, tokenizer, config.max_length) for part in (rows[:1], rows))
    #: region lengths
    assert small["attention_mask"].all(), "a batch is longer than its longest text"
    #: end lengths
    assert not large["attention_mask"].all(), "texts of different lengths need padding"
    with torch.no_grad():
        alone, beside = model(**small).logits, model(**large).logits[:1]
    torch.testing.assert_close(alone, beside, rtol=0, atol=1e-5)


def test_from_pretrained_loads_the_folder_of_a_run(tmp_path):
    #: region finished
    folder = run(tmp_path, epochs=1) / "transformers"
    #: end finished
    text = "a text of a few words"
    tokens = AutoTokenizer.from_pretrained(folder)(text)
    assert dict(tokens) == dict(build_tokenizer(train.Config(**SETTINGS))(text))
    state = AutoModelForSequenceClassification.from_pretrained(folder).state_dict()
    for name, weights in load_file(tmp_path / "model.safetensors").items():
        assert torch.equal(state[name], weights), f"{name} differs after from_pretrained"
