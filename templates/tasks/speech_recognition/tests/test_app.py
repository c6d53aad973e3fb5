from pathlib import Path

#: slot expected
[row] = app.predict(config, model, [Path(values[0])])
assert shown == row["text"]
