from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as USUAL_LAYERS

#: slot layers
pretrained = model.base_model_prefix  # the part with pretrained weights; the other parts are new
parts = {name: list(part.parameters()) for name, part in model.named_children()}
new = [name for name in parts if name != pretrained and parts[name]]
if any(name.startswith("pooler.") for name, _ in model.base_model.named_parameters()):
    new.append(f"{pretrained}.pooler")  # between them, and not in all checkpoints
layers = USUAL_LAYERS.get(model.config.model_type) or [
    f"{pretrained}.{name}"
    for name, layer in model.base_model.named_modules()
    if isinstance(layer, nn.Linear) and not name.startswith("pooler")
]

#: slot settings
modules_to_save=new,
task_type="SEQ_CLS",

#: replace add_inside
return get_peft_model(model, settings)

#: replace merge_inside
return model.merge_and_unload()

#: replace save_inside
weights, adapted = load_file(path), accelerator.unwrap_model(model)
adapted.save_pretrained(folder, state_dict=weights, save_embedding_layers=False)
