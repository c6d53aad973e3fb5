from accelerate import PartialState

#: replace sample
if PartialState().is_main_process:
    with writing(path):
        path.write_text(tokenizer.decode(tokens[0].tolist()), encoding="utf-8")
