#: into hub.py at checks
"""Whether the Hugging Face Hub can be asked for a model or a dataset."""

from pathlib import Path

from huggingface_hub import HfApi
from huggingface_hub.constants import HF_HUB_CACHE


def check_hub(name: str, kind: str = "model") -> None:
    """Exit at once if the Hub can't be asked: loading from it would try again for 40 seconds."""
    cached = Path(HF_HUB_CACHE, f"{kind}s--{name.replace('/', '--')}", "snapshots")
    if Path(name).exists() or cached.exists():
        return
    try:
        HfApi().repo_info(name, repo_type=kind, timeout=10)
    except Exception as error:  # network, name, login or Hub
        reason = " ".join(str(error).split()).rstrip(".")
        raise SystemExit(
            f"The {kind} {name!r} can't be loaded: it is no folder here, and asking the Hugging "
            f"Face Hub failed: {reason}. Name a folder, connect, or log in: hf auth login"
        ) from error
