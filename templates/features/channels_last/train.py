import torch

#: slot after_model
model = model.to(memory_format=torch.channels_last)  # the images adapt to the filters

#: into evaluate.py
#: slot model
model = model.to(memory_format=torch.channels_last)
