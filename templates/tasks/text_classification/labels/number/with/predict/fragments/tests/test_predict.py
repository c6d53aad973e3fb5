#: replace metric_of_rows
errors = [abs(row["prediction"] - number) for row, number in zip(rows, labels, strict=True)]
assert sum(errors) / seen == pytest.approx(reported["test_mae"], rel=1e-5)
