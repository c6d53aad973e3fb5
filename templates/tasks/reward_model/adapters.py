from model import build_tokenizer

#: slot saved
build_tokenizer(config).tokenizer.save_pretrained(folder)
