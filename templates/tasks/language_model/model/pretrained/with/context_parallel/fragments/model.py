from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

#: slot attention
check_layers(self.model.config.get_text_config(), name)
self.model.set_attn_implementation("causal")

#: replace forward
def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    # no mask: padding stands behind a text, where attention never looks ahead to
    return self.model(input_ids=tokens, position_ids=positions).logits

#: slot functions
def attend(module, query, key, value, attention_mask, **settings):
    """Attention to earlier tokens, as texts in parts have it: without a mask, without dropout."""
    settings["dropout"] = 0.0
    return sdpa_attention_forward(module, query, key, value, None, **settings)


AttentionInterface.register("causal", attend)


def check_layers(config, name: str) -> None:
    """Stop if a layer does not look back at all earlier tokens."""
    window = ["sliding_attention"] if getattr(config, "sliding_window", None) else []
    kinds = set(getattr(config, "layer_types", None) or window) - {"full_attention"}
    if kinds:
        raise SystemExit(
            f"--model-name {name} has layers of {', '.join(sorted(kinds))}, but texts can be split "
            "among processes only for full_attention: take another model."
        )
