#: slot settings
use_dora=True,
