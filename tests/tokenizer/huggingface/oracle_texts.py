"""The texts of build_oracles.py: lines of many languages, hostile bytes, and random ones."""

import random
import unicodedata

CORPUS = [
    "the cat sat on the mat and the dog sat on the log",
    "A man in an orange hat is staring at something. It's 12 o'clock, isn't it?",
    "Ein Boston Terrier läuft über saftig-grünes Gras vor einem weißen Zaun.",
    "Zwölf Männer größer als 1,80 m; Fünf Straßen, die I'll 'never' cross!",
    "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας. ΟΔΥΣΣΕΥΣ",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "我能吞下玻璃而不伤身体。今日は良い天気ですね。 나는 유리를 먹을 수 있어요.",
    "नमस्ते दुनिया, यह एक परीक्षण है। สวัสดีชาวโลก مرحبا بالعالم שלום עולם",
    "def f(x):\n    return x ** 2  # two  spaces\n\tif x != 3.14159:\r\n\t\tprint(\"no\")",
    "naïve café résumé São Paulo Ångström 🙂👩‍👩‍👧 ﬁne ① ½ ™ ＡＢＣ",
]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
HOSTILE = [
    b"", b" ", b"   ", b"\n", b"\t\r\n \xc2\xa0\xe3\x80\x80", b"\x00", b"a\x00b", b"\xff\xfe\xfa", b"\xc3", b"ok \xe2\x82 cut", b"\xed\xa0\x80",
    b"\xf0\x9f\x99", b"\xf4\x90\x80\x80", b"<s>", b"</s> <unk><pad>", b"[CLS] x [SEP][MASK]", b"<|endoftext|><|endoftext|>", b"a <mask>b",
    b"Cat cat scatter CAT", b"a  dog  b dog", b"<A><B><A>", b"sat  on SAT  on", "ß ßa ß".encode(), "<0x41> <0x0A>".encode(),
    "▁▁a▁ b".encode(), "\u200b\u200d\ufeffx\u00ad".encode(), "e\u0301\u0327 \u1100\u1161\u11a8 가 각".encode(), "İıſK Å Σς".encode(),
    b"x" * 110, b"ab " * 30, "中".encode() * 40, b"don't DON'T we'Ll", b" 's't", "१२३ ٣٤ ² Ⅷ".encode(), b"  two  spaces  ", b"a\n\n\nb\r\n\r\nc  \n d",
    "\u0301a".encode(), "\U0001f469\u200d\U0001f469\u200d\U0001f467\U0001f3fd".encode(), "ﬁ ﬀ ¼ ㎏ ｶﾞ".encode(), b"hello<|im_end|>\n<tool_call>{}</tool_call>",
]

BLOCKS = [(0x20, 0x7f), (0xa0, 0x24f), (0x300, 0x36f), (0x370, 0x3ff), (0x400, 0x4ff), (0x530, 0x58f), (0x590, 0x5ff), (0x600, 0x6ff),
          (0x900, 0x97f), (0xe00, 0xe7f), (0xe80, 0xeff), (0xf00, 0xfff), (0x1000, 0x109f), (0x10a0, 0x10ff), (0x1100, 0x11ff), (0x1200, 0x137f),
          (0x1780, 0x17ff), (0x1e00, 0x1fff), (0x2000, 0x206f), (0x2070, 0x218f), (0x2190, 0x2bff), (0x3000, 0x30ff), (0x3400, 0x34ff),
          (0x4e00, 0x9fff), (0xac00, 0xd7a3), (0xf900, 0xfaff), (0xfb00, 0xfdff), (0xfe00, 0xffff), (0x1d400, 0x1d7ff), (0x1f300, 0x1f6ff),
          (0x20000, 0x2a6df)]
OLD = [c for low, high in BLOCKS for c in range(low, high + 1)
       if unicodedata.ucd_3_2_0.category(chr(c)) not in ("Cn", "Cs") or 0x1f300 <= c <= 0x1f5ff]  # tables of later versions differ between libraries
KNOWN = {*OLD, *range(0x20), 0x7f, *range(0x80, 0xa0), 0xfffd,
         *(c for c in range(0x110000) if unicodedata.ucd_3_2_0.category(chr(c)) not in ("Cn", "Cs"))}
BY_BLOCK = [[c for c in OLD if low <= c <= high] for low, high in BLOCKS]


def is_old(raw):
    return all(c in KNOWN for c in map(ord, raw.decode("utf-8", "replace")))


def generated(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        kind = rng.random()
        if kind < 0.4:  # one or two scripts
            blocks = [rng.choice(BY_BLOCK) for _ in range(rng.randint(1, 2))] + [[32], [0x2c, 0x2e, 0x27, 0x30, 0x31, 0x39]]
            text = "".join(chr(rng.choice(rng.choice(blocks))) for _ in range(rng.randint(1, 60)))
            yield text.encode()
        elif kind < 0.6:  # anything
            yield "".join(chr(rng.choice(OLD)) for _ in range(rng.randint(1, 40))).encode()
        elif kind < 0.75:  # bytes
            yield bytes(rng.randrange(256) for _ in range(rng.randint(1, 60)))
        elif kind < 0.9:  # a text with a fault
            raw = bytearray(rng.choice(CORPUS + ["<s> a </s> <mask> [MASK] <|endoftext|> Cat dog"]).encode())
            for _ in range(rng.randint(1, 4)):
                raw[rng.randrange(len(raw))] = rng.randrange(256)
            yield bytes(raw)
        else:  # spaces and marks
            yield "".join(rng.choice(" \t\n\r\u00a0\u2028\u3000▁.,'!-_aB1é") for _ in range(rng.randint(1, 50))).encode()
