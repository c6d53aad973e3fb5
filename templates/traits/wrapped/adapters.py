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
