"""Trains small SentencePiece models as other projects lay them out, and lists what SentencePiece makes of texts.

    pip install sentencepiece==0.2.1
    python build_models.py FOLDER          writes NAME.model and NAME.jsonl for each layout

Each line of NAME.jsonl is [text, ids, decoded text]; the bytes of both texts stand as the characters of Latin-1.
"""

import io
import json
import pathlib
import sys

import sentencepiece

assert sentencepiece.__version__ == "0.2.1", sentencepiece.__version__

CORPUS = [
    "the cat sat on the mat and the dog sat on the log", "a man in an orange hat is staring at something",
    "Ein Boston Terrier läuft über saftig-grünes Gras vor einem weißen Zaun.", "it was 12 o'clock in São Paulo",
]
RULES = "65 301\tE9\nFB01\t66 69\n9\t20\n41\t61\n"
LAYOUTS = {
    # Llama 2 and TinyLlama: no padding, bytes
    "llama": dict(model_type="bpe", unk_id=0, bos_id=1, eos_id=2, pad_id=-1, byte_fallback=True, vocab_size=340,
                  remove_extra_whitespaces=False, split_digits=True),
    # T5: no start; extra symbols that text can spell
    "t5": dict(model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, vocab_size=80,
               user_defined_symbols=["<extra_id_0>", "<extra_id_1>"]),
    # Gemma: other names, control symbols between, no space in front
    "gemma": dict(model_type="bpe", pad_id=0, eos_id=1, bos_id=2, unk_id=3, eos_piece="<eos>", bos_piece="<bos>",
                  byte_fallback=True, vocab_size=340, control_symbols=["<mask>", "<2mass>"], add_dummy_prefix=False,
                  user_defined_symbols=["<start_of_turn>", "▁▁"], remove_extra_whitespaces=False),
    # spaces at the end of words, and a table of one's own
    "suffix": dict(model_type="unigram", unk_id=5, bos_id=6, eos_id=4, pad_id=7, vocab_size=80, treat_whitespace_as_suffix=True,
                   control_symbols=["<a>", "<b>", "<c>", "<d>"]),
    "word": dict(model_type="word", unk_id=0, bos_id=-1, eos_id=-1, pad_id=-1, vocab_size=30),
}
TEXTS = [line.encode() for line in CORPUS] + [
    b"", b" ", b"  two  spaces  ", b"\t\n", b"A cat, 1234 cats", "e\u0301 ﬁn 中文 🙂".encode(), b"\xff\xfe a\xc3", b"\x00a", b"<extra_id_0> x <extra_id_1>",
    b"<start_of_turn>user", b"<0x41> <0xFF>", "▁▁a▁".encode(), b"x" * 80, b"the" * 20,
]


def trained(options):
    model = io.BytesIO()
    rules = pathlib.Path(sys.argv[1]) / "rules.tsv"
    if options.get("treat_whitespace_as_suffix"):
        rules.write_text(RULES)
        options = {**options, "normalization_rule_tsv": str(rules)}
    else:
        options = {**options, "normalization_rule_name": "identity"}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=model, minloglevel=2, num_threads=1, hard_vocab_limit=False, **options)
    rules.unlink(missing_ok=True)
    return model.getvalue()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, options in LAYOUTS.items():
        model = trained(options)
        (folder / f"{name}.model").write_bytes(model)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        with open(folder / f"{name}.jsonl", "w") as cases:
            for text in TEXTS:
                ids = processor.encode(text)
                decoded = processor.decode(ids).encode()
                cases.write(json.dumps([text.decode("latin-1"), ids, decoded.decode("latin-1")]) + "\n")


if __name__ == "__main__":
    main()
