#: when project.task=sft|dpo model=pretrained
from transformers import AutoModelForCausalLM, AutoTokenizer

from data import encode_prompt, find_ends, load_tokenizer
from generation import generate
from lib.ends import set_ends

#: slot before_saved
tokenizer = load_tokenizer(config)
set_ends(model.model, tokenizer, find_ends(config))

#: slot saved
compare_answers(model, config, folder)

#: slot functions
QUESTION = [{"role": "user", "content": "What can you do?"}]


def compare_answers(model: nn.Module, config: Config, folder: Path, length: int = 32) -> None:
    """Stop if the folder does not answer as the model does, in plain transformers."""
    prompt = encode_prompt(QUESTION, config)
    length = min(length, max(0, config.context - len(prompt)))
    [answer] = generate(model, [prompt], find_ends(config), config.context, length, "cpu")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    written = tokenizer.apply_chat_template(
        QUESTION, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    loaded = AutoModelForCausalLM.from_pretrained(folder).float().eval()
    tokens = loaded.generate(**written, max_new_tokens=max(1, length), do_sample=False)[0].tolist()
    found = tokens[len(prompt) :]
    found = found[:-1] if found and found[-1] in find_ends(config) else found
    if tokens[: len(prompt)] != prompt or found[:length] != answer:
        raise ValueError(f"the folder answers {found}, and the model answers {answer}")
