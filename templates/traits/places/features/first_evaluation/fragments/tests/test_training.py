#: replace noted
# the targets of scores are overlaps, so an untrained model, which has none, has a small loss
losses.extend(-value for name, value in metrics.items() if name == "val_map")
