import torch

from model import build_tokenizer

#: slot functions
@torch.inference_mode()
def test_a_text_is_drawn_token_by_token(trained):
    config, model = predict.load(trained[0], device="cpu")
    end = build_tokenizer(config).end
    starts = [[end], [end, 1, 2, 3, 4, 5]]
    for context, length in ((7, 0), (7, 1), (7, 6), (5, 4)):
        texts = predict.generate(model, starts, end, context, length, "cpu")
        for start, text in zip(starts, texts, strict=True):
            generator, tokens = torch.Generator().manual_seed(0), torch.tensor([start])
            while tokens.shape[1] < len(text) and end not in tokens[0, len(start) :]:
                logits = model(tokens[:, -context:])[:, -1]
                token = torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)
                tokens = torch.cat([tokens, token], dim=1)
            assert text.tolist()[: tokens.shape[1]] == tokens[0].tolist()
            assert len(text) == len(start) + length or end in text[len(start) :]


def test_a_text_does_not_depend_on_the_others(trained):
    config, model = predict.load(trained[0])
    prompts = ["def main(", "x" * 3 * config.context, ""]
    together = predict.predict(config, model, prompts, length=8)
    alone = [predict.predict(config, model, [prompt], length=8)[0] for prompt in prompts]
    assert together == alone
    assert all(row["text"].startswith(row["prompt"]) for row in together)

#: slot five
rows = predict.predict(config, model, ["def main(", "import os", "", "x", "for line in"], length=8)

#: slot functions when fill_in_middle=psm|spm
def test_a_middle_stands_between_its_prefix_and_suffix(trained):
    config, model = predict.load(trained[0])
    prompt = f"def f(x):{predict.GAP}return x"
    [row] = predict.predict(config, model, [prompt], length=8)
    assert row["text"].startswith("def f(x):") and row["text"].endswith("return x")
    with pytest.raises(SystemExit, match="shorten it"):
        predict.predict(config, model, [prompt + "x" * 4 * config.context], length=8)
