#: slot task
TASK = "automatic-speech-recognition"  # one of https://huggingface.co/tasks
