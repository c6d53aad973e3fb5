#: replace ctc
given = (log_probs.transpose(0, 1), targets, frames, sizes)
given = [values.cpu() for values in given]  # on a GPU, its gradient is not deterministic
losses = F.ctc_loss(*given, BLANK, "none").to(log_probs.device)
