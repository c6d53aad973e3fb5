#: slot functions
def test_an_answer_does_not_depend_on_the_others(trained):
    config, model = predict.load(trained[0])
    prompts = ["add 3 to 14", [{"role": "user", "content": "sort cab"}], ""]
    together = predict.predict(config, model, prompts, length=8)
    alone = [predict.predict(config, model, [prompt], length=8)[0] for prompt in prompts]
    assert together == alone
    assert [row["prompt"] for row in together] == ["add 3 to 14", "sort cab", ""]


def test_prompts_of_a_file(trained, tmp_path):
    config, path = predict.load(trained[0])[0], tmp_path / "prompts.jsonl"
    question, answer = {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}
    rows = [{"prompt": "a", "id": 1}, {"messages": [question]}, {"messages": [question, answer]}]
    path.write_text("\n\n".join(map(json.dumps, rows)) + "\n")
    assert predict.read_inputs(config, [str(path)]) == ["a", [question], [question]]
    path.write_text('{"prompt": "a"}\n{"text": "b"}\n')
    with pytest.raises(SystemExit, match="prompts.jsonl, line 2 has text"):
        predict.read_inputs(config, [str(path)])

#: slot five
rows = predict.predict(config, model, ["add 1 to 20", "reverse ab", "", "x", "sort ca"], length=8)
