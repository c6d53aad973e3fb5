import pytest

#: slot expected
assert sum(shown.values()) == pytest.approx(1)
