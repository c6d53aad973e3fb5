#: slot functions
def test_a_middle_stands_between_its_prefix_and_suffix(trained):
    config, model = predict.load(trained[0])
    prompt = f"def f(x):{predict.GAP}return x"
    [row] = predict.predict(config, model, [prompt], length=8)
    assert row["text"].startswith("def f(x):") and row["text"].endswith("return x")
    with pytest.raises(SystemExit, match="shorten it"):
        predict.predict(config, model, [prompt + "x" * 4 * config.context], length=8)
