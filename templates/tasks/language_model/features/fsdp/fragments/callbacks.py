from accelerate import PartialState

#: replace sample
if PartialState().is_main_process:
    path.write_text(tokenizer.decode(tokens[0].tolist()), encoding="utf-8")
