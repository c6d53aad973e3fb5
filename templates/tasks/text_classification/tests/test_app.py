import pytest

from data import class_names

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
