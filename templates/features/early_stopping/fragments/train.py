from callbacks import EarlyStopping

#: slot setup
early_stopping = EarlyStopping(config.patience, config.min_delta)

#: slot states
, "early_stopping": early_stopping

#: slot start_of_epoch
#: region early_stop
#: region out_of_patience
if early_stopping.should_stop:
    log(f"early stop: {early_stopping.stale} {{ "evaluations" if features.evaluation_by_steps.enabled else "epochs" }}, no better {{ features.early_stopping.monitor }}")
    break
#: end out_of_patience
#: end early_stop

#: slot after_evaluation
early_stopping.update({{ features.early_stopping.sign }}metrics[{{ features.early_stopping.monitor | python }}])

#: slot leave_epoch
if early_stopping.should_stop:
    break
