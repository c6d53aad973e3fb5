#: when model=pretrained
from lib.ends import set_ends

#: slot before_saved
set_ends(model.model, tokenizer, {tokenizer.eos_token_id})
