from math import cos, pi

#: slot schedule
# Nichol and Dhariwal 2021, https://arxiv.org/abs/2102.09672
signal = [cos((time / LEVELS + 0.008) / 1.008 * pi / 2) ** 2 for time in range(LEVELS + 1)]
betas = torch.tensor([min(1 - after / before, 0.999) for before, after in pairwise(signal)])
