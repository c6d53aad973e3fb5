from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

#: slot attention
check_layers(self.model.config.get_text_config(), name)
self.model.set_attn_implementation("causal")

#: replace forward
def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    # no mask: padding comes after a text, and attention never looks ahead
    return self.model(input_ids=tokens, position_ids=positions).logits

#: slot functions
def attend(module, query, key, value, attention_mask, **settings):
    """Causal attention for texts that are split across processes: no mask, no dropout."""
    settings["dropout"] = 0.0
    return sdpa_attention_forward(module, query, key, value, None, **settings)


AttentionInterface.register("causal", attend)


def check_layers(config, name) -> None:
    """Stop if a layer does not attend to all earlier tokens."""
    window = ["sliding_attention"] if getattr(config, "sliding_window", None) else []
    kinds = set(getattr(config, "layer_types", None) or window) - {"full_attention"}
    if kinds:
        raise SystemExit(
            f"--model-name {name} has layers with {', '.join(sorted(kinds))}. Texts can be split "
            "across processes only with full_attention: use another model."
        )
