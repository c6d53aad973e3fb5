from callbacks import synchronize_batch_norm

#: slot after_model
model = synchronize_batch_norm(model, accelerator.device)
