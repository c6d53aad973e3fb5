#: slot parameters
, tags: list[str] | None = None

#: replace tags
tags = tags or tag_names(config)  # those of a run, so that no data is needed
