from attention import set_attention

#: slot after_model
set_attention(model, {{ features.attention.implementation | python }})
