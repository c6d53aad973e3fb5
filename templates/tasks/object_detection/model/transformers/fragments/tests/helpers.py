#: slot settings
"image_size": min(train.Config.image_size, 128),  # faster

#: slot exact_model
if hasattr(module, "denoising_class_embed"):
    module.config.num_denoising = 0  # no noisy copies of objects
