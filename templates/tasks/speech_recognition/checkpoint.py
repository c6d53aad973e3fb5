#: slot fixed when model=ctc|pretrained
"letters": "the model has an output for each",
