from data import fit_columns

#: replace draw_confusion
confusion_plot.draw(config.output_dir / "confusion.png", fit_columns(config).classes)
