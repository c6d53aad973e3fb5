"""Handwritten digits on one device.

python plain.py
"""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
images, labels = load_digits(return_X_y=True)
data = TensorDataset(torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(labels))
order = torch.Generator()
train_sampler = RandomSampler(data, generator=order)
train_loader = DataLoader(data, batch_size=64, sampler=train_sampler, drop_last=True)
eval_loader = DataLoader(data, batch_size=256)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

for epoch in range(3):
    order.manual_seed(epoch)
    total = torch.zeros((), device=device)
    for images, labels in train_loader:
        images, labels = images.to(device), labels.to(device)
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.detach()
    loss = total.item() / len(train_loader)
    print(f"epoch {epoch + 1} | loss {loss:.5f}")

correct = 0
with torch.no_grad():
    for images, labels in eval_loader:
        images, labels = images.to(device), labels.to(device)
        hits = model(images).argmax(dim=-1) == labels
        correct += hits.sum().item()
print(f"correct {correct} of {len(data)}")
