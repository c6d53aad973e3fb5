#: replace save_state
# not as safetensors, which can't load weights into the memory of a TPU
self.accelerator.save_state(scratch, safe_serialization=False)
