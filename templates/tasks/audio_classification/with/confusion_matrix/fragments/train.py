from data import class_names

#: replace draw_confusion
confusion_plot.draw(config.output_dir / "confusion.png", class_names(config))
