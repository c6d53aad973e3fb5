#: slot lengths
assert tokens.shape == mask.shape == targets.shape == (2, 32)
tokens, mask, targets = tokens[:, :4], mask[:, :4], targets[:, :4]
