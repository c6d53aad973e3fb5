#: when dataset=csv
from data import class_names

#: replace draw_confusion when labels=one with confusion_matrix
confusion_plot.draw(config.output_dir / "confusion.png", class_names(config))
