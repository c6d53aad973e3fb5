from callbacks import add_embedding_noise

#: slot after_model
add_embedding_noise(model, config.neftune_alpha)
