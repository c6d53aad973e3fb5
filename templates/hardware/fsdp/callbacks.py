from accelerate import PartialState

#: replace sample with fsdp with chats
if PartialState().is_main_process:
    path.write_text("\n".join(texts), encoding="utf-8")
