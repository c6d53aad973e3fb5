#: slot after_evaluation
confusion_plot.send(accelerator, config.output_dir / "confusion.png", progress.step)
