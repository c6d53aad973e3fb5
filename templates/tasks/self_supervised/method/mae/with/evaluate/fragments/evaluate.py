from train import compute_loss
