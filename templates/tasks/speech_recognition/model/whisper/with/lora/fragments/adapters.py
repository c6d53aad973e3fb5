from model import build_tokenizer

#: slot layers
layers = ["q_proj", "v_proj"]  # of all attentions, as in the example of PEFT for Whisper

#: slot saved
build_tokenizer(config).tokenizer.save_pretrained(folder)
