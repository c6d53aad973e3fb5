#: slot functions
def test_an_answer_does_not_depend_on_the_others(trained):
    config, model = predict.load(trained[0])
    prompts = ["add 3 to 14", [{"role": "user", "content": "sort cab"}], ""]
    together = predict.predict(config, model, prompts, length=8)
    alone = [predict.predict(config, model, [prompt], length=8)[0] for prompt in prompts]
    assert together == alone
    assert [row["prompt"] for row in together] == ["add 3 to 14", "sort cab", ""]

#: slot five
rows = predict.predict(config, model, ["add 1 to 20", "reverse ab", "", "x", "sort ca"], length=8)
