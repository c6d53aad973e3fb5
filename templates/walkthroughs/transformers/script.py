import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

config = BertConfig(vocab_size=30, hidden_size=8, num_hidden_layers=1, num_attention_heads=2)
model = BertForSequenceClassification(config)
data = [
    {"input_ids": torch.arange(i, i + 5) % 30, "labels": torch.tensor(i % 2)} for i in range(64)
]
args = TrainingArguments("out", num_train_epochs=2, weight_decay=0.1, warmup_steps=3)
trainer = Trainer(model=model, args=args, train_dataset=data)
trainer.train()
