#: slot settings
"image_size": min(train.Config.image_size, 128),  # faster

#: slot exact_model
for name in ("dropout", "attention_dropout", "activation_dropout"):
    if isinstance(getattr(module, name, None), float):  # for torch.nn.functional.dropout
        setattr(module, name, 0.0)
if hasattr(module, "denoising_class_embed"):
    module.config.num_denoising = 0  # no noisy copies of objects
