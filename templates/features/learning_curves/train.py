from callbacks import LearningCurves

#: slot setup
learning_curves = LearningCurves(metrics_file.path, config.output_dir / "curves.png")

#: slot observers
learning_curves.draw()
