#: slot fsdp_settings
auto_wrap_policy="transformer_based_wrap",  # the classes of layers that the model names

#: slot after_model
# Accelerate gathers the embeddings by themselves, and fails where they are a layer, too
model._no_split_modules = [
    name for name in model._no_split_modules or () if "Embeddings" not in name
]
