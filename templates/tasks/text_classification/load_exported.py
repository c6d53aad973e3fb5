#: replace build
model = build_model(config, folder / "transformers")
