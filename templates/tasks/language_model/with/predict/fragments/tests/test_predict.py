#: slot functions
def test_a_text_does_not_depend_on_the_others(tmp_path):
    run(tmp_path, epochs=1, limit_batches=1)
    config, model = predict.load(tmp_path)
    prompts = ["def main(", "x" * 3 * config.context, ""]
    together = predict.predict(config, model, prompts, length=8)
    alone = [predict.predict(config, model, [prompt], length=8)[0] for prompt in prompts]
    assert together == alone
    assert all(row["text"].startswith(row["prompt"]) for row in together)

#: slot five
rows = predict.predict(config, model, ["def main(", "import os", "", "x", "for line in"], length=8)
