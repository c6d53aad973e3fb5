#: slot parameters
, tags: list[str] | None = None

#: replace tags
tags = tags or tag_names(config)  # with those of a run, it needs no data
