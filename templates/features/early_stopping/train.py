from callbacks import EarlyStopping

#: slot setup
early_stopping = EarlyStopping(config.patience, config.min_delta)

#: slot states
, "early_stopping": early_stopping

#: slot start_of_epoch
#: region early_stop
#: region out_of_patience
if early_stopping.should_stop:
    log(f"early stop: {early_stopping.stale} epochs, no better {{ features.early_stopping.monitor }}")
    break
#: end out_of_patience
#: end early_stop

#: slot after_evaluation
early_stopping.update({{ features.early_stopping.sign }}metrics[{{ features.early_stopping.monitor | python }}])

#: replace out_of_patience with evaluation_by_steps
if early_stopping.should_stop and not progress.batch:
    break

#: slot after_training with evaluation_by_steps
#: region after_training_message
if early_stopping.should_stop:
    log(f"early stop: {early_stopping.stale} evaluations, no better {{ features.early_stopping.monitor }}")
#: end after_training_message

#: replace finished with evaluation_by_steps
if progress.step >= total_steps or early_stopping.should_stop:
    #: slot leave_epoch_early
    break

#: replace early_stop when threshold=given without evaluation_by_steps
if early_stopping.reached:
    log("early stop: {{ features.early_stopping.monitor }} reached {{ features.early_stopping.threshold }}")
    break
...  #: keep out_of_patience

#: replace after_training_message when threshold=given with evaluation_by_steps
if early_stopping.reached:
    log("early stop: {{ features.early_stopping.monitor }} reached {{ features.early_stopping.threshold }}")
elif early_stopping.should_stop:
    log(f"early stop: {early_stopping.stale} evaluations, no better {{ features.early_stopping.monitor }}")

#: slot after_evaluation when threshold=given
early_stopping.reached |= metrics[{{ features.early_stopping.monitor | python }}] {{ "<=" if features.early_stopping.sign else ">=" }} {{ features.early_stopping.threshold }}
