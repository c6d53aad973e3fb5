#: replace order
order = torch.randperm(len(images)).to(images.device)  # XLA ignores the seed
