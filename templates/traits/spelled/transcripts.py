from torch import Tensor

from metrics import read_letters

#: slot parameters
samples: list[tuple[Tensor, Tensor]],
letters: list[str],

#: slot written
inputs, lengths, _, _ = collate(samples)
model.eval()
written = read_letters(model(inputs.to(accelerator.device), lengths.to(accelerator.device)))

#: slot rows
for (_, text), row in zip(samples, written, strict=True):
    said, heard = ("".join(letters[number] for number in part) for part in (text, row))
    rows += [f"said:  {said}", f"heard: {heard}", ""]
