"""Builds small tokenizers of every kind with `tokenizers` and lists what they make of texts.

    pip install tokenizers==0.23.3 sentencepiece==0.2.1 transformers protobuf    # the latter two read a table of the second
    python build_oracles.py FOLDER    writes texts.jsonl and for each kind NAME.json and NAME.jsonl

Each line of texts.jsonl is one text, its bytes as the characters of Latin-1. The same line of NAME.jsonl has the ids, the
ids with those of the post-processor, and the text of the latter without special tokens and with them. Bytes that are not
UTF-8 become U+FFFD before `tokenizers` sees them. Truncation and padding are switched off. Training by `tokenizers` gives
another vocabulary each time, so a NAME.json that exists is kept, and its NAME.jsonl comes out the same again.
"""

import json
import pathlib
import sys

import tokenizers
from oracle_texts import CORPUS, HOSTILE, LLAMA3, O200K, QWEN2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

assert tokenizers.__version__ == "0.23.3", tokenizers.__version__

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def trained(tokenizer, trainer):
    tokenizer.train_from_iterator(CORPUS * 3, trainer)
    return tokenizer


def byte_level_bpe(split=None, specials=("<|endoftext|>",), size=600, **options):
    tokenizer = Tokenizer(models.BPE(**options))
    if split is None:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(split), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    return trained(tokenizer, trainers.BpeTrainer(
        vocab_size=size, special_tokens=list(specials), initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))


def gpt2():
    tokenizer = byte_level_bpe()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def legacy_gpt2():
    """As GPT-2's own file has it: no type of the model, merges as strings, empty affixes."""
    tree = json.loads(gpt2().to_str())
    model = tree["model"]
    del model["type"], model["byte_fallback"], model["ignore_merges"]
    model["continuing_subword_prefix"] = model["end_of_word_suffix"] = ""
    model["merges"] = [" ".join(pair) for pair in model["merges"]]
    return Tokenizer.from_str(json.dumps(tree))


def roberta():
    tokenizer = byte_level_bpe(specials=("<s>", "<pad>", "</s>", "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return tokenizer


def llama3():
    tokenizer = byte_level_bpe(LLAMA3, ("<|begin_of_text|>", "<|end_of_text|>"), ignore_merges=True)
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|> $B:1",
                                      special_tokens=[("<|begin_of_text|>", 0)])])
    return tokenizer


def qwen2():
    tokenizer = byte_level_bpe(QWEN2, ("<|endoftext|>", "<|im_start|>", "<|im_end|>"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([AddedToken("<tool_call>", normalized=False), AddedToken("</tool_call>", normalized=False)])
    return tokenizer


def gpt_neox():
    tokenizer = byte_level_bpe(size=500)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([AddedToken(" " * n, normalized=True) for n in range(24, 1, -1)])
    return tokenizer


def deepseek():
    tokenizer = byte_level_bpe(size=500)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex("[\r\n]"), "isolated"),
        pre_tokenizers.Split(Regex(r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯ]+"), "isolated"),
        pre_tokenizers.Split(Regex(r"\s?[!-/:-~！-／：-～‘-‟　-。]+"), "isolated"),
        pre_tokenizers.Split(Regex(r"\s+$"), "isolated"),
        pre_tokenizers.Split(Regex("[一-龥ࠀ-一가-퟿]+"), "isolated"),
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return tokenizer


def sentencepiece_like(vocabulary_size=500, fuse=True):
    """A BPE with the bytes of Llama 2's: text in one piece, U+2581 for spaces."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=fuse, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    trained(tokenizer, trainers.BpeTrainer(vocab_size=vocabulary_size,
                                           special_tokens=["<unk>", "<s>", "</s>", *BYTES], limit_alphabet=60))
    tokenizer.pre_tokenizer = None
    return tokenizer


def llama2():
    tokenizer = sentencepiece_like()
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B:1", special_tokens=[("<s>", 1)])
    tree = json.loads(tokenizer.to_str())
    tree["added_tokens"] = [entry for entry in tree["added_tokens"] if entry["id"] < 3]  # bytes are no added tokens
    return Tokenizer.from_str(json.dumps(tree))


def llama2_metaspace():
    tokenizer = llama2()
    tokenizer.normalizer = None
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    return tokenizer


def stripped_first():
    """Metaspace sees whether its text begins where the line does."""
    tokenizer = llama2_metaspace()
    tokenizer.normalizer = normalizers.Strip(left=True, right=False)
    return tokenizer


def bpe_without_bytes(fuse):
    tokenizer = sentencepiece_like(fuse=fuse)
    tree = json.loads(tokenizer.to_str())
    tree["model"]["byte_fallback"] = False
    tree["added_tokens"] = tree["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(tree))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def bpe_of_words():
    """Sennrich's: a suffix at the end of words, as in CLIP and FSMT."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", invert=True)])
    tokenizer.decoder = decoders.BPEDecoder("</w>")
    return trained(tokenizer, trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>"], end_of_word_suffix="</w>"))


def bpe_with_prefix():
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    return trained(tokenizer, trainers.BpeTrainer(vocab_size=400, special_tokens=["[UNK]"], continuing_subword_prefix="##"))


def bert(**normalizer):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(**normalizer)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trained(tokenizer, trainers.WordPieceTrainer(vocab_size=500, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=16)
    return tokenizer


def bert_cased():
    tokenizer = bert(lowercase=False, strip_accents=None, handle_chinese_chars=False)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def unigram(byte_fallback=False):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trained(tokenizer, trainers.UnigramTrainer(vocab_size=300, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>"))
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    if byte_fallback:
        tree = json.loads(tokenizer.to_str())
        tree["model"]["byte_fallback"] = True
        tree["model"]["vocab"] += [[token, -30.0] for token in BYTES]
        tokenizer = Tokenizer.from_str(json.dumps(tree))
        tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return tokenizer


def charsmap():
    """A table of a few replacements as SentencePiece writes it, from its own trainer."""
    import io

    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS), model_writer=model, vocab_size=262, minloglevel=2,
                                             normalization_rule_tsv=str(RULES), model_type="unigram", hard_vocab_limit=False)
    from transformers.utils import sentencepiece_model_pb2_new as proto

    parsed = proto.ModelProto()
    parsed.ParseFromString(model.getvalue())
    return parsed.normalizer_spec.precompiled_charsmap


RULES = pathlib.Path(__file__).parent / "rules.tsv"


def precompiled():
    tokenizer = unigram()
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap()), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    return tokenizer


def word_level():
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return trained(tokenizer, trainers.WordLevelTrainer(special_tokens=["[UNK]", "[PAD]"]))


def characters(pre_tokenizer, normalizer=None):
    """One token for each piece that `pre_tokenizer` makes of the corpus: shows how it divides."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    return trained(tokenizer, trainers.WordLevelTrainer(special_tokens=["[UNK]"]))


def added_tokens():
    tokenizer = gpt2()
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.add_tokens([
        AddedToken("Cat", single_word=True), AddedToken("dog", lstrip=True, rstrip=True), AddedToken("<A>", normalized=False),
        AddedToken("<A><B>", normalized=False, special=True), AddedToken("SAT", rstrip=True, special=True),
        AddedToken("Log", special=True, normalized=True),
        AddedToken("ß", single_word=True, normalized=False), AddedToken(" ", normalized=False, single_word=True, special=True)])
    return tokenizer


KINDS = {
    "gpt2": gpt2, "legacy_gpt2": legacy_gpt2, "roberta": roberta, "llama3": llama3, "qwen2": qwen2, "gpt_neox": gpt_neox,
    "o200k": lambda: byte_level_bpe(O200K), "deepseek": deepseek, "llama2": llama2, "llama2_metaspace": llama2_metaspace,
    "stripped_first": stripped_first, "bpe_fused": lambda: bpe_without_bytes(True), "bpe_unfused": lambda: bpe_without_bytes(False),
    "bpe_of_words": bpe_of_words, "bpe_with_prefix": bpe_with_prefix, "bert": bert, "bert_cased": bert_cased,
    "bert_accents": lambda: bert(strip_accents=False), "unigram": unigram, "unigram_bytes": lambda: unigram(True),
    "precompiled": precompiled, "word_level": word_level, "added_tokens": added_tokens,
    "digits": lambda: characters(pre_tokenizers.Digits()), "digit": lambda: characters(pre_tokenizers.Digits(True)),
    "fixed_length": lambda: characters(pre_tokenizers.FixedLength(3)),
    "delimiter": lambda: characters(pre_tokenizers.CharDelimiterSplit(" ")),
    "words": lambda: characters(pre_tokenizers.Split(Regex(r"\b\w+?\b|\d{2}+|[\s\h]"), "isolated"), normalizers.NFKD()),
    **{f"punctuation_{behavior}": lambda b=behavior: characters(pre_tokenizers.Punctuation(b))
       for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")},
    **{f"split_{behavior}": lambda b=behavior: characters(pre_tokenizers.Split(Regex(r"\p{L}*a|^\s|x?"), b, invert=b == "removed"))
       for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")},
}


def expectations(tokenizer, raw):
    text = raw.decode("utf-8", "replace")
    framed = tokenizer.encode(text).ids
    return [tokenizer.encode(text, add_special_tokens=False).ids, framed, tokenizer.decode(framed),
            tokenizer.decode(framed, skip_special_tokens=False)]


def write_lines(path, values):
    path.write_text("".join(json.dumps(value, separators=(",", ":")) + "\n" for value in values))


def golden(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    texts = [line.encode() for line in CORPUS] + HOSTILE
    write_lines(folder / "texts.jsonl", [raw.decode("latin-1") for raw in texts])
    for name, build in KINDS.items():
        file = folder / f"{name}.json"
        if not file.exists():
            write_lines(file, [json.loads(build().to_str())])
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        write_lines(folder / f"{name}.jsonl", [expectations(tokenizer, raw) for raw in texts])


if __name__ == "__main__":
    golden(sys.argv[1])
