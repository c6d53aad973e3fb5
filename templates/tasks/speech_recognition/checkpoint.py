#: slot fixed when model=ctc|pretrained
FIXED |= {"letters"}
