#: slot start_of_training
if progress.step == 0:
    metrics = evaluate(accelerator, model, val_loader, "val", config.limit_batches)
    #: slot more_metrics
    log(f"before training | {format_metrics(metrics)}")
    #: slot report
    #: slot observers
