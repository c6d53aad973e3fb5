#: replace inputs
return noise, times, torch.arange(8) % {{ task.classes }}
