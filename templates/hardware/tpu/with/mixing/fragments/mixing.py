#: replace order
order = torch.randperm(len(images)).to(images.device)  # one drawn by XLA follows no seed
