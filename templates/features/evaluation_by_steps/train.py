#: slot end_of_step
if progress.step % config.evaluate_every == 0 or progress.step >= total_steps:
    metrics: dict[str, float] = {}
    #: region evaluate
    #: slot start_of_evaluation
    metrics |= evaluate(accelerator, model, val_loader, "val", config.limit_batches)
    #: slot more_metrics
    #: slot after_evaluation
    #: end evaluate
    log(f"evaluated step {progress.step} | {format_metrics(metrics)}")
    #: slot report
    #: slot observers

#: replace epoch_evaluation
