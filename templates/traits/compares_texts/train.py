from metrics import compare_texts, summarize_texts

#: slot before_evaluation
unwrapped, comparison = accelerator.unwrap_model(model), 0

#: slot scored
with accelerator.autocast():
    #: region written
    written = unwrapped.write(sources)
    #: end written
compared = compare_texts(written, unwrapped.tokenizer.decode(targets)).to(targets.device)
comparison += accelerator.gather_for_metrics(compared).sum(dim=0)

#: slot evaluated
, **{f"{name}_{key}": value for key, value in summarize_texts(comparison, seen).items()}
