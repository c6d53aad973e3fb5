from pathlib import Path

import pytest

#: slot expected
[row] = app.predict(config, model, [Path(values[0])])
assert sum(shown.values()) == pytest.approx(1)
assert max(shown, key=shown.get) == row["label"]
