#: slot stopped
if any(self.folder.glob("checkpoint_*")):
    return "can be resumed"
