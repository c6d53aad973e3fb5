import pytest

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
