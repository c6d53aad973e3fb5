from transformers import AutoConfig, AutoModelForSequenceClassification

#: replace signature
def build_model(config, saved=None) -> nn.Module:

#: slot saved
if saved:  # written at the end of a run, so that no data is needed
    return AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(saved))
