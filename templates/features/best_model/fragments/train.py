from callbacks import BestModel
from checkpoint import load_weights

#: slot setup
best_model = BestModel(config.output_dir / "best.safetensors")
checkpoints.states["best_model"] = best_model

#: slot after_evaluation
if best_model.improved({{ features.best_model.sign }}metrics[{{ features.best_model.monitor | python }}]):
    save_weights(accelerator, model, best_model.path)

#: slot before_test
if best_model.found:
    load_weights(accelerator, model, best_model.path)
