#!/usr/bin/env python3
"""Writes sacrebleu.json: cases with the values of the sacrebleu package.

    pip install sacrebleu==2.6.0 && python3 sacrebleu_golden.py > sacrebleu.json

Every case is a corpus: hypotheses, references, and for both cases of letters BLEU (score,
precisions, brevity penalty, lengths, signature), chrF2 and chrF2++ (score, signature).
`tokens` pairs a line with its 13a tokens; `lower` a text with its str.lower().
"""
import json
import random
import sys

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

assert sacrebleu.__version__ == "2.6.0", sacrebleu.__version__

PIECES = [
    "the", "The", "THE", "cat", "dog's", "don't", "well-known", "e.g.", "U.S.A.", "Mr.", "3.14",
    "1,000,000", "1,000.", ".5", "5.", "10-20", "a-b", "-5", "5-", "--", "---", "...", "..", ".",
    ",", "!", "?!", "(x)", "[y]", "{z}", "<b>", "&amp;", "&lt;", "&gt;", "&quot;", "&amp;lt;",
    "&AMP;", "&apos;", "&#39;", "&", "<skipped>", "<SKIPPED>", "a<skipped>b", "http://a.b/c?d=1&e=2",
    "x@y.z", "50%", "$5.00", "#1", "a/b", "a\\b", "^", "_under_score_", "`tick`", "~", "|", "\"q\"",
    "'s", "‘s’", "“quoted”", "„unten“", "«guillemets»", "–", "—", "…", "Straße", "STRASSE", "Äpfel",
    "ÄPFEL", "äpfel", "İstanbul", "ΟΔΟΣ", "Σ", "ΑΣ.Β", "ΑΣ", "Ǆ", "ǅ", "K", "Å", "Привет,", "мир!", "你好，",
    "世界。", "日本語", "한국어", "नमस्ते", "שלום", "مرحبا", "👍", "👩‍👩‍👧", "🇩🇪", "e\u0301", "é", "ﬁ", "\u00ad",
    "٣٫١٤", "٣", "３.５", "½", "²", "1.٣", "9,９", "\u200b", "\ufeff", "\u2060", "a\u0000b", "\u007f", "ẞ", "𐐀", "Ꮳ",
]
SPACES = [" "] * 12 + ["  ", "\t", "\u00a0", "\u3000", "\u2009", "\u202f", "\r", "\v", "\f", "\u0085", "\u2028",
                       "\u001c", "\u001f", "", "", ""]
ALPHABET = "aA1.,-& '/\u00e4\u3002"


def line(rng):
    if rng.random() < 0.06:
        return rng.choice(["", " ", "\t", ".", "\u00a0", "-", "&"])
    if rng.random() < 0.25:
        return "".join(rng.choice(ALPHABET) for _ in range(rng.randint(1, 24)))
    text = ""
    for _ in range(rng.randint(1, 14)):
        text += rng.choice(PIECES) + rng.choice(SPACES)
    return text


def disturb(rng, text):
    """A hypothesis that shares something with its reference."""
    kind = rng.random()
    if kind < 0.15:
        return text
    if kind < 0.25:
        return line(rng)
    words = text.split(" ")
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(words) + 1)
        act = rng.random()
        if act < 0.3 and words:
            del words[min(place, len(words) - 1)]
        elif act < 0.7:
            words.insert(place, rng.choice(PIECES))
        elif words:
            place = min(place, len(words) - 1)
            words[place] = rng.choice([words[place].upper(), words[place].lower(), words[place][::-1]])
    return " ".join(words)


def values(hypotheses, references, lowercase):
    bleu = BLEU(lowercase=lowercase, tokenize="13a")
    score = bleu.corpus_score(hypotheses, [references])
    result = {
        "bleu": score.score, "precisions": score.precisions, "brevity_penalty": score.bp,
        "hypothesis_length": score.sys_len, "reference_length": score.ref_len,
        "correct": score.counts, "total": score.totals, "bleu_signature": str(bleu.get_signature()),
    }
    for name, order in (("chrf", 0), ("chrf++", 2)):
        chrf = CHRF(lowercase=lowercase, word_order=order)
        result[name] = chrf.corpus_score(hypotheses, [references]).score
        result[name + "_signature"] = str(chrf.get_signature())
    return result


def case(hypotheses, references):
    return {"hypotheses": hypotheses, "references": references,
            "mixed": values(hypotheses, references, False), "lc": values(hypotheses, references, True)}


HAND = [
    (["the cat sat on the mat"], ["the cat sat on the mat"]),
    (["the the the the the the the"], ["the cat is on the mat"]),
    ([""], [""]), ([""], ["a b c d"]), (["a b c d"], [""]), (["a"], ["a"]), (["a b"], ["a b"]),
    (["a b c d e"], ["v w x y z"]), (["A B C D"], ["a b c d"]), (["a b c"], ["a b c d e f g"]),
    (["a b c d e f g h"], ["a b c d"]), (["a\nb c-\nd e f"], ["a b cd e f"]), (["x y z-\n"], ["x y z -"]),
    (["ends here. \u00a0"], ["ends here."]), (["(hi) there, you."], ["(hi) there you!"]),
    (["line with\r", "two\r"], ["line with", "two"]),
    (["good one two three four", "", "bad"], ["good one two three four", "lost words here", ""]),
    (["1.000,50 Euro kosten 2-3 Dinge."], ["1,000.50 Euro kosten 2 - 3 Dinge ."]),
    (["ΟΔΥΣΣΕΥΣ ΚΑΙ ΑΣ'Α Σ"], ["οδυσσευς και ασ'α σ"]), (["İI ıi"], ["i̇i ıi"]),
]


def main():
    rng = random.Random(20)
    cases = [case(h, r) for h, r in HAND]
    for _ in range(240):
        references = [line(rng) for _ in range(rng.choice([1, 1, 1, 2, 5]))]
        cases.append(case([disturb(rng, text) for text in references], references))
    references = [line(rng) for _ in range(400)]
    cases.append(case([disturb(rng, text) for text in references], references))
    tokenizer = Tokenizer13a()
    # A later Unicode has more cased characters; these are the ones this Python knows.
    cased = "".join(chr(c) for c in range(0x110000)
                    if not 0xD800 <= c <= 0xDFFF and chr(c).lower() != chr(c))
    lower = [cased] + ["aΣ", "Σ", "aΣb", "a.Σ", "aΣ.b", "aΣ. b", "Σa", "1Σ", "a\u0301Σ\u0301", "aΣΣ", "aΣ\u00adb", "İi\u0307", "𐐀Σ"]
    json.dump({
        "cases": cases,
        "tokens": [[text, tokenizer(text).split(" ") if tokenizer(text) else []]
                   for text in dict.fromkeys(line(rng) for _ in range(600))],
        "lower": [[text, text.lower()] for text in lower],
        "spaces": [c for c in range(0x110000) if chr(c).isspace()],
    }, sys.stdout, ensure_ascii=True, separators=(",", ":"))
    print()


main()
