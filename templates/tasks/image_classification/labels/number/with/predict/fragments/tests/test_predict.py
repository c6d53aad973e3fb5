#: replace names
#: replace metric_of_rows
errors = [abs(row["prediction"] - float(number)) for row, (_, number) in zip(rows, samples, strict=True)]
assert sum(errors) / len(samples) == pytest.approx(reported["test_mae"], rel=1e-5)
