#: when dataset=huggingface
from data import class_names

#: replace draw_confusion with confusion_matrix
confusion_plot.draw(config.output_dir / "confusion.png", class_names(config))
