from test_predict import predict_five

#: slot compared
predict_five(folder / "1")

#: slot tests
def test_two_processes_predict_like_one(runs):
    """One row for each input, in their order."""
    folder = runs[0] / "1"
    predict_five(folder)
    one, two = (json.loads((folder / f"{count}.json").read_text()) for count in (1, 2))
    assert len(one) == len(two) > 0
    for row, other in zip(one, two, strict=True):
        assert other.keys() == row.keys()
        for name, value in row.items():
            close = value if isinstance(value, str) else pytest.approx(value, rel=1e-4, abs=1e-6)
            assert other[name] == close
