#: slot start_of_training
if progress.update == 0:
    metrics = evaluate(model, val_loader, accelerator, "val", config.limit_batches)
    #: slot more_metrics
    log(f"before training | {format_metrics(metrics)}")
    #: slot report
    #: region report when observers
    if accelerator.is_main_process:
        ...  #: slot observers
    #: end report
