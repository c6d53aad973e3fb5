#: slot schedule
# Ho and others 2020, https://arxiv.org/abs/2006.11239
betas = torch.linspace(1e-4, 0.02, LEVELS)
