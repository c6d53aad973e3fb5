import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import train
from data import build_datasets, build_loaders, build_tokenizer, class_names, collate
from helpers import SETTINGS, run
from lib.metrics import classification_scores, confusion_matrix
from lib.scores import label_scores
from model import Scale, build_model

#: into tests/test_app.py
#: slot values
#: region texts
values = ["a text about modules"]
inputs = values
#: end texts

#: slot expected
[row] = app.predict(config, model, inputs)
#: region expected
assert sum(shown.values()) == pytest.approx(1)
assert max(shown, key=shown.get) == row["label"]
#: end expected

#: replace texts when dataset=csv|huggingface
values = ["a text"] * len(config.text_columns.split(","))
inputs = [tuple(values)]

#: replace expected when labels=many
assert shown == pytest.approx({name: row[f"p_{name}"] for name in class_names(config)})

#: replace expected when labels=number
assert shown == pytest.approx(row["prediction"])

#: into tests/test_features.py
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

#: replace rows when labels=many
label = build_datasets(config)[0][0][1]
rows = [(columns * [text], label) for text in ("a", "a b")]

#: slot tests when labels=number
def test_errors_are_in_the_unit_of_the_numbers():
    """RMSE, MAE and R² are those of the predictions for the whole set."""
    accelerator, config = Accelerator(), train.Config(**SETTINGS)
    model = accelerator.prepare(build_model(config))
    loader = accelerator.prepare(build_loaders(config)[1])
    metrics = train.evaluate(accelerator, model, loader, "val", 0)
    model.eval()
    scale, parts = Scale(model.config), []
    with torch.no_grad():
        for batch in loader:
            numbers = batch.pop("labels")
            parts.append((scale.restore(model(**batch).logits), numbers))
    predictions, targets = map(torch.cat, zip(*parts, strict=True))
    errors = predictions - targets
    expected = {
        "val_rmse": errors.square().mean().sqrt(),
        "val_mae": errors.abs().mean(),
        "val_r2": 1 - errors.square().sum() / (targets - targets.mean()).square().sum(),
    }
    for name, value in expected.items():
        assert metrics[name] == pytest.approx(value.item(), rel=1e-4, abs=1e-5), name

#: replace rows when labels=number
rows = [(columns * [text], 0.0) for text in ("a", "a b")]

#: replace finished with lora
folder = run(tmp_path, epochs=1, lora_merge=True) / "transformers"

#: replace lengths with tpu
assert small["input_ids"].shape[1] == large["input_ids"].shape[1] == config.max_length

#: replace peft_inside with lora
return PeftModel.from_pretrained(model, folder)

#: slot tests with labels
def test_scores_are_those_of_the_whole_set():
    """The counts of 2 batches add up to scores that were computed by hand."""
    labels, predictions = torch.tensor([0, 0, 0, 1, 1, 2]), torch.tensor([0, 0, 1, 1, 1, 0])
    confusion = sum(
        confusion_matrix(predictions[part], labels[part], classes=4)
        for part in (slice(0, 4), slice(4, 6))
    )
    scores = classification_scores(confusion)
    assert scores["accuracy"] == pytest.approx(4 / 6)
    # class 0: precision 2/3, recall 2/3; class 1: 2/3 and 1; class 2: 0; class 3 does not occur
    assert scores["f1"] == pytest.approx((2 / 3 + 4 / 5 + 0) / 3)
    true, predicted = (3, 2, 1), (3, 3, 0)
    covariance = 6 * 4 - (9 + 6 + 0)
    spread = ((36 - sum(n**2 for n in true)) * (36 - sum(n**2 for n in predicted))) ** 0.5
    assert scores["matthews"] == pytest.approx(covariance / spread)
    assert classification_scores(torch.tensor([[3, 0], [0, 0]]))["matthews"] == 0.0

#: into tests/test_predict.py
#: slot metric
seen = sum(len(batch["labels"]) for batch in read_batches(config))
texts, labels = zip(*build_datasets(config)[2][:seen], strict=True)
rows = predict.predict(config, model, [text if len(text) > 1 else text[0] for text in texts])
#: region metric_of_rows
names = class_names(config)
right = sum(row["label"] == names[label] for row, label in zip(rows, labels, strict=True))
assert right / seen == pytest.approx(reported["test_accuracy"], rel=1e-12)
#: end metric_of_rows

#: slot five
texts = [text for text, _ in build_datasets(config)[2][:5]]
rows = predict.predict(config, model, [text if len(text) > 1 else text[0] for text in texts])

#: replace metric_of_rows when labels=many
names = class_names(config)
probs = torch.tensor([[row[f"p_{name}"] for name in names] for row in rows])
scores = label_scores(probs.logit(), torch.tensor(labels))
for name, value in scores.items():
    assert value == pytest.approx(reported[f"test_{name}"], rel=1e-6)

#: replace metric_of_rows when labels=number
errors = [abs(row["prediction"] - number) for row, number in zip(rows, labels, strict=True)]
assert sum(errors) / seen == pytest.approx(reported["test_mae"], rel=1e-5)
