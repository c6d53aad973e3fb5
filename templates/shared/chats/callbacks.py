#: when project.task=sft|dpo
from accelerate import PartialState

from data import Sample, find_ends
from generation import generate
from lib.chats import split_at_answer
from model import build_tokenizer

#: slot classes
def write_sample(model, config, examples: list[Sample], path, length: int = 100) -> None:
    """Write the answers of the model in some conversations, below those of the data."""
    tokenizer, texts = build_tokenizer(config), []
    device = next(model.parameters()).device
    prompts, answers = zip(*map(split_at_answer, examples), strict=True)
    model.eval()
    written = generate(model, prompts, find_ends(config), config.context, length, device)
    model.train()
    for prompt, answer, tokens in zip(prompts, answers, written, strict=True):
        texts += [tokenizer.show(prompt), f"data:  {tokenizer.decode(answer)}"]
        texts += [f"model: {tokenizer.decode(tokens)}", ""]
    #: region sample
    path.write_text("\n".join(texts), encoding="utf-8")
    #: end sample

#: replace sample with deepspeed
if PartialState().is_main_process:
    path.write_text("\n".join(texts), encoding="utf-8")

#: replace sample with fsdp
if PartialState().is_main_process:
    path.write_text("\n".join(texts), encoding="utf-8")
