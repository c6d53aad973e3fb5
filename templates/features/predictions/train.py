from callbacks import PredictionsFile

#: slot functions
predictions_file = PredictionsFile()  # filled by evaluate(), written by main()

#: slot before_evaluation
predictions_file.clear()

#: slot evaluated_batch
predictions_file.add(labels, predictions)

#: slot after_test
if accelerator.is_main_process:
    predictions_file.write(config.output_dir / "predictions.csv")
