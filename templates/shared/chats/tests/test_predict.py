#: when project.task=sft|dpo
import torch

import generation
from data import find_ends

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

#: slot functions when model=pretrained
def test_the_cache_does_not_change_answers(trained):
    config, model = predict.load(trained[0], device="cpu")
    prompts = [predict.write_prompt(config, text) for text in ("add 3 to 14", "sort cab", "")]
    context = max(map(len, prompts)) + 6
    for length in (0, 1, 20):
        settings = (prompts, find_ends(config), context, length, "cpu")
        with torch.inference_mode():
            assert predict.generate(model, *settings) == generation.generate(model, *settings)
