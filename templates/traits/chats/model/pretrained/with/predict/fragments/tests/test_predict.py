import generation
import torch
from data import find_ends

#: slot functions
def test_the_cache_does_not_change_answers(trained):
    config, model = predict.load(trained[0], device="cpu")
    prompts = [predict.write_prompt(config, text) for text in ("add 3 to 14", "sort cab", "")]
    context = max(map(len, prompts)) + 6
    for length in (0, 1, 20):
        settings = (prompts, find_ends(config), context, length, "cpu")
        with torch.inference_mode():
            assert predict.generate(model, *settings) == generation.generate(model, *settings)
