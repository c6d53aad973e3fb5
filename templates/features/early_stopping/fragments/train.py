from callbacks import EarlyStopping

#: slot setup
early_stopping = EarlyStopping(config.early_stopping_patience, config.early_stopping_min_delta)
checkpoints.states["early_stopping"] = early_stopping

#: slot start_of_epoch
#: region early_stop
#: region out_of_patience
if early_stopping.stop:
    log(f"early stop: {early_stopping.stale} {{ "evaluations" if features.evaluation_by_updates.enabled else "epochs" }} without a better {{ features.early_stopping.monitor }}")
    break
#: end out_of_patience
#: end early_stop

#: slot after_evaluation
early_stopping.step({{ features.early_stopping.sign }}metrics[{{ features.early_stopping.monitor | python }}])

#: slot leave_epoch
if early_stopping.stop:
    break
