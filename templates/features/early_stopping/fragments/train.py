from callbacks import EarlyStopping

#: slot setup
early_stopping = EarlyStopping(config.early_stopping_patience, config.early_stopping_min_delta)
checkpoints.states["early_stopping"] = early_stopping

#: slot start_of_epoch
if early_stopping.stop:
    log(f"early stop: {early_stopping.stale} epochs without a better {{ task.metric }}")
    break

#: slot after_evaluation
early_stopping.step({{ task.sign }}metrics[{{ task.metric | python }}])
