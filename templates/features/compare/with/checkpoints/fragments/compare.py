#: slot stopped
if any(self.folder.glob("checkpoint_*[0-9]")):
    return "can be resumed"
