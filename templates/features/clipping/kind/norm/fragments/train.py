from math import inf

#: slot after_backward
grad_norm = accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm or inf)

#: slot log_values
values["grad_norm"] = float(grad_norm)
