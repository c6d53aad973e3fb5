from callbacks import BestModel

#: slot setup
best_model = BestModel(accelerator, config.output_dir / "best.safetensors")

#: slot states
, "best_model": best_model

#: slot after_evaluation
best_model.update({{ features.best_model.sign }}metrics[{{ features.best_model.monitor | python }}], model)

#: slot before_test
best_model.load(model)
