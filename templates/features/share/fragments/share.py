from modulefinder import ModuleFinder

#: slot copies
finder = ModuleFinder([str(PROJECT)])  # of what predict.py imports from this project
finder.run_script(str(PROJECT / "predict.py"))
code = [Path(module.__file__) for module in finder.modules.values() if module.__file__]
copies |= {path.relative_to(PROJECT): path for path in [PROJECT / "pyproject.toml", *code]}
copies["run/model.safetensors"] = run / "model.safetensors"
