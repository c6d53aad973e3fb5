#: replace noted when object_detection.model=small|timm
# not the loss: its targets are overlaps, which are 0 before training
losses.extend(-value for name, value in metrics.items() if name == "val_map")
