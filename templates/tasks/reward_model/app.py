from lib.conversations import Conversation

#: slot row
roles = ("user", "assistant")
chat = [{"role": role, "content": text} for role, text in zip(roles, values, strict=True)]
[row] = predict(config, model, [Conversation(chat, "The conversation")])

#: slot shown
return row["reward"]

#: slot inputs
inputs = [gr.Textbox(lines=4, label=name) for name in ("prompt", "answer")]

#: slot outputs
outputs = gr.Number(label="reward")
