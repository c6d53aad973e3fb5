from torch import Tensor

#: slot parameters
samples: list[tuple[Tensor, Tensor, Tensor]],

#: slot written
sounds, _, targets = collate(samples)
model.eval()
unwrapped = accelerator.unwrap_model(model)
with accelerator.autocast():
    written = unwrapped.write(sounds.to(accelerator.device))

#: slot rows
for said, heard in zip(unwrapped.tokenizer.decode(targets), written, strict=True):
    rows += [f"said:  {said}", f"heard: {heard}", ""]
