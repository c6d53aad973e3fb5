from transcripts import write_transcripts

#: slot before_training
shown = [val_loader.dataset[row] for row in range(min(8, len(val_loader.dataset)))]

#: slot after_evaluation
path = config.output_dir / f"texts_{progress.step:08d}.txt"
#: region write_transcripts
#: end write_transcripts
