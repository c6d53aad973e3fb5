from accelerate.utils import broadcast_object_list
from checksums import checksum
from progress import log

#: slot best_model_setup
self.checksum = ""

#: slot best_model_saved
self.checksum = checksum(self.path)

#: slot best_model_state
def state_dict(self) -> dict:
    return {"score": self.score, "checksum": self.checksum}

def load_state_dict(self, state: dict) -> None:
    # another run may have replaced the file; the main process decides for all processes
    unchanged = broadcast_object_list([checksum(self.path) == state.get("checksum")])[0]
    if unchanged:
        self.score, self.checksum = state["score"], state["checksum"]
    else:
        log(f"{self.path} is not the best model of this checkpoint: it will be replaced")
