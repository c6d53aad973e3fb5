#: slot loader_settings
, non_blocking=True
