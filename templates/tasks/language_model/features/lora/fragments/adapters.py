from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as USUAL_LAYERS
from transformers.pytorch_utils import Conv1D
from model import build_tokenizer

#: slot layers
layers = USUAL_LAYERS.get(model.model.config.model_type, "all-linear")

#: slot settings
fan_in_fan_out=any(isinstance(layer, Conv1D) for layer in model.modules()),
task_type="CAUSAL_LM",

#: replace add
model.model = get_peft_model(model.model, settings)
return model

#: replace merge
model.model = model.model.merge_and_unload()
return model

#: replace save
weights = {name.removeprefix("model."): weight for name, weight in load_file(path).items()}
adapted = accelerator.unwrap_model(model).model
adapted.save_pretrained(folder, state_dict=weights, save_embedding_layers=False)
build_tokenizer(config).tokenizer.save_pretrained(folder)
