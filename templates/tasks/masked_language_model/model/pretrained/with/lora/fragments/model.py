#: replace load
self.model, facts = AutoModelForMaskedLM.from_pretrained(
    name,
    dtype=torch.float32,  # mixed precision needs weights in 32 bits
    output_loading_info=True,
)
if facts["missing_keys"]:  # with adapters, they would stay random
    raise SystemExit(
        f"The model {name!r} was not trained to find masked tokens: it lacks "
        f"{min(facts['missing_keys'])}. Train without adapters, or use another model."
    )
