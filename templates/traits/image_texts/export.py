import json

from transformers import CLIPImageProcessor

#: slot before_saved when model=pretrained
model.model.logit_scale = nn.Parameter(model.log_scale.detach().reshape(()))
pixels, _ = CLIPImageProcessor.get_image_processor_dict(config.pretrained_name)
(folder / "preprocessor_config.json").write_text(json.dumps(pixels, indent=2))
