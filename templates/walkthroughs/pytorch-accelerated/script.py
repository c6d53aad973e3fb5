import torch
from pytorch_accelerated import Trainer
from torch import nn
from torch.utils.data import TensorDataset

inputs = torch.arange(256.0).reshape(64, 4).sin()
data = TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))
model = nn.Linear(4, 1)
trainer = Trainer(model, nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.1))
trainer.train(
    data,
    num_epochs=3,
    per_device_batch_size=8,
    train_dataloader_kwargs={"num_workers": 0},
)
