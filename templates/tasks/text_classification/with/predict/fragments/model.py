from transformers import AutoConfig, AutoModelForSequenceClassification

#: replace signature
def build_model(config, saved=None) -> nn.Module:

#: slot saved
if saved:  # the folder that a run has written at its end: it needs no data
    return AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(saved))
