from peft import PeftModel, PeftModelForQuestionAnswering

#: slot functions when model=pretrained with lora
def keep_token_types() -> None:
    """PEFT 0.21: its model for question answering drops token_type_ids.

    With merged adapters, the model would get them. Delete this when that model passes them on.
    """
    PeftModelForQuestionAnswering.forward = PeftModel.forward
