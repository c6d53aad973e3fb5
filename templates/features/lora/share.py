#: slot copies
copies |= {path.name: path for path in run.glob("adapter/*")}  # for PEFT, at the top

#: slot copied
if (adapter := scratch / "adapter_config.json").exists():
    settings = json.loads(adapter.read_text())
    base = settings["base_model_name_or_path"]
    if base and Path(base).is_absolute():  # a folder of this machine
        settings["base_model_name_or_path"] = Path(base).name
    adapter.write_text(json.dumps(settings, indent=2))
