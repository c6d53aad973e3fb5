#: when project.task=sft|dpo
from accelerate import PartialState

from data import Sample, find_ends
from generation import generate
from lib.chats import split_at_answer
from model import build_tokenizer
from metrics import log

#: slot classes
def write_sample(model, config, examples: list[Sample], path, length: int = 100) -> None:
    """Write the answers of the model in some conversations, below those of the data.

    Says how many are those of the data, and how many end: other metrics take the true tokens before
    each one, so they can't tell.
    """
    tokenizer, texts, right, ended, ends = build_tokenizer(config), [], 0, 0, find_ends(config)
    device = next(model.parameters()).device
    prompts, answers = zip(*map(split_at_answer, examples), strict=True)
    model.eval()
    written = generate(model, prompts, ends, config.context, length, device)
    model.train()
    for prompt, answer, tokens in zip(prompts, answers, written, strict=True):
        right += tokens == [token for token in answer if token not in ends]
        ended += len(tokens) < min(length, config.context - len(prompt))
        texts += [tokenizer.show(prompt), f"data:  {tokenizer.decode(answer)}"]
        texts += [f"model: {tokenizer.decode(tokens)}", ""]
    if examples:
        log(f"of {len(examples)} generated answers, {right} are those of the data, and {ended} end")
    #: region sample
    path.write_text("\n".join(texts), encoding="utf-8")
    #: end sample

#: replace sample with deepspeed
if PartialState().is_main_process:
    path.write_text("\n".join(texts), encoding="utf-8")

#: replace sample with fsdp
if PartialState().is_main_process:
    path.write_text("\n".join(texts), encoding="utf-8")
