"""Handwritten digits on any number of devices, with DistributedDataParallel by hand.

torchrun --standalone --nproc-per-node 2 ddp.py
"""

import os

import torch
import torch.distributed as dist
import torch.distributed.nn  # first: imported later, it would keep the process group alive
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, Subset, TensorDataset

use_cuda = torch.cuda.is_available()
device = torch.device(f"cuda:{os.environ['LOCAL_RANK']}" if use_cuda else "cpu")
if use_cuda:
    torch.cuda.set_device(device)
dist.init_process_group("nccl" if use_cuda else "gloo")
rank, processes = dist.get_rank(), dist.get_world_size()

images, labels = load_digits(return_X_y=True)
data = TensorDataset(torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(labels))
train_sampler = DistributedSampler(data, seed=0)
train_loader = DataLoader(data, batch_size=64, sampler=train_sampler, drop_last=True)
# a DistributedSampler would count some images twice
eval_loader = DataLoader(Subset(data, range(rank, len(data), processes)), batch_size=256)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).to(device)
model = DistributedDataParallel(model, device_ids=[device.index] if use_cuda else None)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

for epoch in range(3):
    train_sampler.set_epoch(epoch)
    total = torch.zeros((), device=device)
    for images, labels in train_loader:
        images, labels = images.to(device), labels.to(device)
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.detach()
    dist.all_reduce(total)
    loss = total.item() / processes / len(train_loader)
    if rank == 0:
        print(f"epoch {epoch + 1} | loss {loss:.5f}")

correct = torch.zeros((), dtype=torch.int64, device=device)
with torch.no_grad():
    for images, labels in eval_loader:
        images, labels = images.to(device), labels.to(device)
        hits = model(images).argmax(dim=-1) == labels
        correct += hits.sum()
dist.all_reduce(correct)
if rank == 0:
    print(f"correct {correct.item()} of {len(data)}")
# the process group can't end while a model still holds it
del model
dist.destroy_process_group()
