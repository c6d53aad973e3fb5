"""Handwritten digits on any number of devices, with Accelerate.

accelerate launch --multi_gpu --num_processes 2 with_accelerate.py
"""

import torch
import torch.distributed.nn  # first: imported later, it would keep the process group alive
import torch.nn.functional as F
from accelerate import Accelerator
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

accelerator = Accelerator()
images, labels = load_digits(return_X_y=True)
data = TensorDataset(torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(labels))
order = torch.Generator()
train_sampler = RandomSampler(data, generator=order)
train_loader = DataLoader(data, batch_size=64, sampler=train_sampler, drop_last=True)
eval_loader = DataLoader(data, batch_size=256)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
model, optimizer, train_loader, eval_loader = accelerator.prepare(
    model, optimizer, train_loader, eval_loader
)

for epoch in range(3):
    order.manual_seed(epoch)
    total = torch.zeros((), device=accelerator.device)
    for images, labels in train_loader:
        loss = F.cross_entropy(model(images), labels)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        total += loss.detach()
    loss = accelerator.reduce(total, "mean").item() / len(train_loader)
    accelerator.print(f"epoch {epoch + 1} | loss {loss:.5f}")

correct = 0
with torch.no_grad():
    for images, labels in eval_loader:
        hits = model(images).argmax(dim=-1) == labels
        # drops the duplicates that pad the last batches
        correct += accelerator.gather_for_metrics(hits).sum().item()
accelerator.print(f"correct {correct} of {len(data)}")
# the process group can't end while a model still holds it
model, optimizer = accelerator.free_memory(model, optimizer)
accelerator.end_training()
