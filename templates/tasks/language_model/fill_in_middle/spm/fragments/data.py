#: replace order_of_parts
# suffix, prefix, middle (SPM), so that the middle follows its prefix: Bavarian et al. 2022,
# https://arxiv.org/abs/2207.14255, with the tokens as in its appendix
marked = [tokenizer.prefix, tokenizer.suffix, *suffix, tokenizer.middle, *prefix]
