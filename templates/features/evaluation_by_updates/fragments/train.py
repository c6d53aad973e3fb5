#: slot end_of_update
every = config.evaluation_by_updates_every
if progress.update % every == 0 or progress.update == total_updates:
    metrics: dict[str, float] = {}
    #: region evaluate
    #: slot start_of_evaluation
    metrics |= evaluate(model, val_loader, accelerator, "val", config.limit_batches)
    #: slot more_metrics
    #: slot after_evaluation
    #: end evaluate
    log(f"evaluated update {progress.update} | {format_metrics(metrics)}")
    #: slot report
    #: region report when observers
    if accelerator.is_main_process:
        ...  #: slot observers
    #: end report

#: replace epoch_evaluation
