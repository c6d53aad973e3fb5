#: slot fixed
"num_workers": "each reads its own part of the stream",
