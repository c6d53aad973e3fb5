#: replace peft with lora
model.model = PeftModel.from_pretrained(model.model, folder)
return model
