#: slot lengths
assert sources.shape == inputs.shape == targets.shape == (2, 32)
sources, inputs, targets = sources[:, :3], inputs[:, :4], targets[:, :4]
