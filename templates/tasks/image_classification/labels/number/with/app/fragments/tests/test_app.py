#: replace expected
assert shown == pytest.approx(row["prediction"])
