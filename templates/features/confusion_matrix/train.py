from confusion import ConfusionPlot

#: slot functions
confusion_plot = ConfusionPlot()  # evaluate() adds to it, main() draws it

#: slot before_evaluation
confusion_plot.clear()

#: slot evaluated_batch
confusion_plot.add(labels, predictions)

#: slot more_metrics
#: region draw_confusion
confusion_plot.draw(config.output_dir / "confusion.png")
#: end draw_confusion
