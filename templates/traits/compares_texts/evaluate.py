from metrics import TEXT_SCORES, compare_texts, summarize_texts

#: slot before_measure
unwrapped = accelerator.unwrap_model(model)

#: slot measured_batch
with accelerator.autocast():
    written = unwrapped.write(sources)
compared = compare_texts(written, unwrapped.tokenizer.decode(targets)).to(targets.device)
values = (*values, compared)

#: replace columns
losses, tokens, exact, compared = map(torch.cat, zip(*batches, strict=True))
scores = dict(zip(TEXT_SCORES, compared.T, strict=True))
return {"loss": losses / tokens, "tokens": tokens, "exact_match": exact, **scores}

#: slot before_summary
compared = torch.stack([columns[name].sum() for name in TEXT_SCORES])

#: slot summary
**summarize_texts(compared, len(columns["loss"])),
