#: slot fixed
"context": "it decides the batches",
