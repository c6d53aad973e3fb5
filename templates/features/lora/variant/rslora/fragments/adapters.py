#: slot settings
use_rslora=True,
