#: slot functions
def test_a_text_does_not_depend_on_the_others(trained):
    config, model = predict.load(trained[0])
    prompts = ["def main(", "x" * 3 * config.context, ""]
    together = predict.predict(config, model, prompts, length=8)
    alone = [predict.predict(config, model, [prompt], length=8)[0] for prompt in prompts]
    assert together == alone
    assert all(row["text"].startswith(row["prompt"]) for row in together)

#: slot five
rows = predict.predict(config, model, ["def main(", "import os", "", "x", "for line in"], length=8)
