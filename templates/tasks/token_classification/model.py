#: slot parameters with predict
, tags: list[str] | None = None

#: replace tags with predict
tags = tags or tag_names(config)  # those of a run, so that no data is needed
