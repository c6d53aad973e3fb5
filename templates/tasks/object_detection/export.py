#: slot failed when model=transformers
if reason.startswith("Constraints violated"):
    reason = "its code fixes the number of samples. Use --format safetensors."
