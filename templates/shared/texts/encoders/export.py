#: when project.task=embeddings|masked_language_model|multiple_choice|question_answering|token_classification
from copy import deepcopy

from data import build_tokenizer

#: slot formats when model=pretrained
"transformers": "the model and its tokenizer, for from_pretrained",

#: slot functions when model=pretrained
def export_transformers(model: nn.Module, config: Config, folder: Path) -> Program:
    #: slot before_saved
    model.model.save_pretrained(folder)
    build_tokenizer(config).save_pretrained(folder)
    #: slot saved
    loaded = deepcopy(model)  # keep the layers around the transformers model
    loaded.model = type(model.model).from_pretrained(folder).eval()
    return loaded

#: slot exported when model=pretrained
elif format == "transformers":
    program = export_transformers(model, config, folder)
