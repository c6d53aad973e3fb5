from sklearn.datasets import load_breast_cancer

#: replace draw_confusion
names = load_breast_cancer().target_names.tolist()
confusion_plot.draw(config.output_dir / "confusion.png", names)
