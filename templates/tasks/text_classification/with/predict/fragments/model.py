from transformers import AutoConfig, AutoModelForSequenceClassification

#: slot parameters
, saved=None

#: slot saved
if saved:  # the folder that a run has written at its end: it needs no data
    return AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(saved))
