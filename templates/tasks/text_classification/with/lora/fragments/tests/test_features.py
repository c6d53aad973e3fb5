#: replace finished
folder = run(tmp_path, epochs=1, lora_merge=True) / "transformers"
