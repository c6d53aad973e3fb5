#: slot settings when model=timm
"backbone": "test_resnet",  # a small model
"width": 16,

#: slot settings when model=transformers
"image_size": min(train.Config.image_size, 128),  # faster

#: slot exact_model when model=transformers
for name in ("dropout", "attention_dropout", "activation_dropout"):
    if isinstance(getattr(module, name, None), float):  # for torch.nn.functional.dropout
        setattr(module, name, 0.0)
if hasattr(module, "denoising_class_embed"):
    module.config.num_denoising = 0  # no noisy copies of objects

#: replace sgd without unfreezing
# the steepest places of this loss need smaller steps
return optim.SGD(model.parameters(), config.learning_rate / 3)

#: replace unfreezing_settings with unfreezing
"unfreezing_epochs": 1,

#: replace unfreezing_sgd with unfreezing
# the steepest places of this loss need smaller steps
groups = [{"params": list(model.parameters()), "depth": 0}]
return optim.SGD(groups, config.learning_rate / 3)
