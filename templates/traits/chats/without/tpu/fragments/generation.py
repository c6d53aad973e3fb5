from torch.nn.utils.rnn import pad_sequence

#: slot logits
inputs = pad_sequence([torch.tensor(texts[row]) for row in rows], batch_first=True)
logits = model(inputs.to(device))[range(len(rows)), lasts]
