"""Scripts that write recordings of speech."""

# sounds of several lengths, rates, widths and numbers of channels, a tone for each letter
RECORD = """
import csv, math, random, sys, wave
from pathlib import Path
folder, count = Path(sys.argv[1]), int(sys.argv[2])
folder.mkdir(parents=True)
draw, rows = random.Random(0), []
for number in range(count):
    text = " ".join("".join(draw.choices("abc", k=draw.randint(1, 3))) for _ in range(2))
    rate, width, channels = (8000, 16000, 22050)[number % 3], 1 + number % 4, 1 + number % 2
    data = b""
    for letter in text:
        hertz = 500 * 2 ** " abc".index(letter)
        for step in range(int(rate * draw.uniform(0.1, 0.15))):
            value = (letter != " ") * math.sin(2 * math.pi * hertz * step / rate) / 2
            whole = int(value * 2 ** (8 * width - 1)) + (128 if width == 1 else 0)
            data += channels * whole.to_bytes(width, "little", signed=width > 1)
    with wave.open(str(folder / f"{number:03}.wav"), "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        file.writeframes(data)
    rows.append((f"{folder.name}/{number:03}.wav", text.title() + "!"))
with open(folder.with_suffix(".csv"), "w", newline="") as file:
    csv.writer(file).writerows([("file", "text"), *rows])
"""
# folders as `load_dataset` reads them: sounds in a Parquet file, or beside a metadata.csv
HUB = """
import csv
from pathlib import Path
from datasets import Audio, Dataset
rows = list(csv.DictReader(open("clips.csv")))

def write(name, rows):
    sounds = [{"bytes": Path(row["file"]).read_bytes(), "path": row["file"]} for row in rows]
    table = {"audio": sounds, "transcription": [row["text"] for row in rows]}
    table = Dataset.from_dict(table).cast_column("audio", Audio(decode=False))
    Path(name).parent.mkdir(exist_ok=True)
    table.to_parquet(name)

write("hub/train.parquet", rows[:30])
write("hub/test.parquet", rows[30:])
write("alone/train.parquet", rows)
write("empty/train.parquet", [*rows[:3], rows[0] | {"text": " "}])
Path("text.wav").write_text("no sound")
write("wrong/train.parquet", [*rows[:3], rows[0] | {"file": "text.wav"}])
write("other/test.parquet", rows)
"""
# what jiwer finds in the texts that predict.py writes of the test data: sounds, texts, WER and CER
RATES = """
import data, jiwer, json, predict
config, model = predict.load()
rate = data.sample_rate(config) if hasattr(data, "sample_rate") else config.sample_rate
predict.load_sound = lambda row, config: data.prepare(data.load_sound(row, rate), config)
rows = data.load_rows(config)[2]
texts = [row.text for row in rows]
heard = [row["text"] for row in predict.predict(config, model, rows)]
print(json.dumps([len(rows), len(set(heard)), jiwer.wer(texts, heard), jiwer.cer(texts, heard)]))
"""
