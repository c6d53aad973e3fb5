from datasets import ClassLabel

#: replace read_labels
column = config.labels_column
feature = getattr(part.features[column], "feature", None)  # the type of the list items
if feature is None:
    raise SystemExit(
        f"The column {column!r} holds {part.features[column]}, not lists: set --labels-column."
    )
to_name = feature.int2str if isinstance(feature, ClassLabel) else str
return [
    (row, tuple(map(to_name, found)))
    for row, found in zip(texts, part[column], strict=True)
    if found is not None
]
