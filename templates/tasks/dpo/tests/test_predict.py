#: slot functions
def test_prompts_of_a_file(trained, tmp_path):
    config, path = predict.load(trained[0])[0], tmp_path / "prompts.jsonl"
    question, answer = {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}
    both = {"chosen": [answer], "rejected": "d"}
    rows = [{"prompt": "a", "id": 1}, {"prompt": [question], **both}]
    path.write_text("\n\n".join(map(json.dumps, rows)) + "\n")
    assert predict.read_inputs(config, [str(path)]) == ["a", [question]]
    path.write_text('{"prompt": "a"}\n{"text": "b"}\n')
    with pytest.raises(SystemExit, match="prompts.jsonl, line 2 has text"):
        predict.read_inputs(config, [str(path)])
