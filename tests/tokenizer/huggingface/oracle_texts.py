"""The texts of build_oracles.py, lines of many languages and hostile bytes, and the expressions of three tokenizers."""

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
