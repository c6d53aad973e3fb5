#: slot marks when model=pretrained
# as in StarCoder; if your tokenizer has other names for them, change these
MARKS = ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"]  # they mark what is around a middle

#: slot more_tokens when model=pretrained
self.tokenizer.add_tokens(MARKS, special_tokens=True)  # those that are missing
self.prefix, self.suffix, self.middle = self.tokenizer.convert_tokens_to_ids(MARKS)

#: slot built when model=pretrained
size = len(build_tokenizer(config).tokenizer)
if size > model.model.get_input_embeddings().num_embeddings:  # MARKS are new
    model.model.resize_token_embeddings(size, mean_resizing=False)

#: replace tokens when model=gpt
"""Each byte of UTF-8 is a token. One more ends a document, and three mark the middle."""

size, end = 260, 256
prefix, suffix, middle = 257, 258, 259
