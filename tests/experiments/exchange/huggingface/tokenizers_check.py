"""Checks with `tokenizers` itself that the tokenizer.json of a run has the ids and the texts of its SentencePiece model.

    .venv/bin/python tests/experiments/exchange/huggingface/tokenizers_check.py build/ablate    # make test-exchange

Models of every kind that splits words learn from this repository's documents and from random words of thirteen scripts. All lines are in
Unicode's form C: of others the rules of normalisation are applied in another order. Of two divisions that are equally likely, a unigram
model may take either.
"""

import random
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import sentencepiece
import tokenizers

STUDY = """
name: tokenizers
seeds: [1]
base:
  data: {{ task: language, train: {text}, held_out: 0.1, block: 32 }}
  model: {{ family: decoder_only, d_model: 8, layers: 1, bias: false, embedding_scale: false, position: rotary, attention: {{ heads: 1 }},
           norm: {{ kind: rms, placement: pre }}, feed_forward: {{ d_hidden: 8, activation: silu, gated: true }} }}
  training: {{ steps: 1, tokens_per_batch: 600 }}
arms:
  bpe: {{}}
  unigram: {{ tokenizer.kind: unigram }}
  character: {{ tokenizer.kind: character }}
  byte: {{ tokenizer.kind: byte }}
  exact: {{ tokenizer.spaces: exact, tokenizer.normalization: identity }}
"""
SCRIPTS = [(0x100, 0x250), (0x1E00, 0x1F00), (0x370, 0x400), (0x400, 0x500), (0x5D0, 0x5EB), (0x620, 0x64B), (0x904, 0x94D), (0xE01, 0xE3A),
           (0x10D0, 0x10FB), (0x3041, 0x3097), (0x30A1, 0x30FB), (0x4E00, 0x5000), (0xAC00, 0xAD00)]
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")  # our tokenizers do not read them in a text, and these libraries do


def lines_of(root):
    chosen = random.Random(1)
    lines = [line for file in sorted(root.glob("docs/**/*.md")) for line in file.read_text(encoding="utf-8").splitlines()]
    for begin, end in SCRIPTS:
        letters = [chr(point) for point in range(begin, end) if unicodedata.category(chr(point))[0] in "LMN"]
        lines += [" ".join("".join(chosen.choices(letters, k=chosen.randint(1, 7))) for _ in range(chosen.randint(1, 9))) for _ in range(200)]
    lines += ["", " ", "  a  b  ", "☃ ☃☃ x☃", "\t a\tb", "1,234.5 €"]
    return [unicodedata.normalize("NFC", line) for line in lines if not any(name in line for name in SPECIAL)]


def as_good(pieces, ids, others):
    """Whether both divisions have the same probability."""
    return abs(sum(map(pieces.get_score, ids)) - sum(map(pieces.get_score, others))) < 1e-3


def main(program):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = lines_of(Path(__file__).parents[4])
        (folder / "text").write_text("".join(line + "\n" for line in lines[:-6]), encoding="utf-8")
        (folder / "study.yaml").write_text(STUDY.format(text=folder / "text"))
        subprocess.run([program, "run", folder / "study.yaml", "--output", folder / "runs"], check=True, capture_output=True)
        for run in sorted(folder.glob("runs/tokenizers/*/*/seed-1")):
            arm = run.parent.name
            subprocess.run([program, "export", run, "--format", "huggingface", "--to", folder / arm], check=True, capture_output=True)
            pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / arm / "tokenizer.model"))
            written = tokenizers.Tokenizer.from_file(str(folder / arm / "tokenizer.json"))
            for line in lines:
                ids, found = pieces.encode(line), written.encode(line, add_special_tokens=False).ids
                assert found == ids or (arm == "unigram" and as_good(pieces, ids, found)), f"{arm}: {line!r}: {found} and {ids}"
                assert pieces.unk_id() in ids or written.decode(ids) == pieces.decode(ids), f"{arm}: {line!r}"
            print(f"tokenizers {tokenizers.__version__}, {arm}: ids and texts of {len(lines)} lines are SentencePiece's")


main(sys.argv[1])
