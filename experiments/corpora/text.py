"""Sentences: how texts are normalized, divided, judged and split into sets. A pair is (document, source, target)."""

import hashlib
import re
import unicodedata
from typing import NamedTuple


class Language(NamedTuple):
    """A language that English is translated into."""
    code: str
    function_words: frozenset  # nearly every sentence has one
    translators_section: str  # heading of the end of a translated man page


GERMAN = Language("de", frozenset("der die das und in ist für ein eine zu den von mit auf nicht sie es werden wird dem des kann oder "
                                  "im als".split()), "ÜBERSETZUNG")
FRENCH = Language("fr", frozenset("le la les des et est pour un une que qui dans de du en au aux sur pas ce cette par avec il sont ou "
                                  "vous ne peut l d".split()), "TRADUCTION")
ITALIAN = Language("it", frozenset("il la le lo gli i di e un una per che non con in da del della dei è sono si come o al nel può l "
                                   "delle".split()), "TRADUZIONE")
ENGLISH = frozenset("the of and to is for that this with are be it you from or by not can".split())  # in no other language here


def normalized(text):
    """In NFC, without soft hyphens, with one space for every run of white space and none at the ends."""
    return " ".join(unicodedata.normalize("NFC", text).replace("\u00ad", "").split())


def begins_sentence(letter):
    return unicodedata.category(letter) in ("Lu", "Nd") or letter in '"(„»«“'


def sentences(paragraph, ends=".!?"):
    """A normalized paragraph, divided after each of `ends` if a capital, a digit, a quotation mark or a bracket follows."""
    found, begin = [], 0
    for space in re.finditer(f"(?<=[{ends}]) (?=.)", paragraph):
        if begins_sentence(paragraph[space.end()]):
            found.append(paragraph[begin:space.start()])
            begin = space.end()
    return found + [paragraph[begin:]] * (begin < len(paragraph))


def aligned(document, source, target, ends=".!?"):
    """The sentences of two paragraphs that translate each other if both have as many, else the paragraphs. Equal ones are left out."""
    sources, targets = sentences(source, ends), sentences(target, ends)
    if len(sources) != len(targets):
        sources, targets = [source], [target]
    return [(document, one, other) for one, other in zip(sources, targets) if one != other]


def is_mostly_letters(text):
    return sum(map(str.isalpha, text)) + text.count(" ") >= 0.7 * len(text)


def is_english(lower, language):
    words = set(re.findall(r"[^\W\d_]+", lower))
    return not words & language.function_words and len(words & ENGLISH) >= 2


def is_copied(source, target):
    words = set(target.split())
    return len(words & set(source.split())) > 0.6 * len(words)


def is_clean(source, target, language):
    """Whether two texts look like a sentence and its translation: 3 to 80 words against 1 to 80, lengths within a factor of 2.5,
    letters for 70 % of either, at most 60 % of the words copied, and not English on both sides."""
    return (3 <= len(source.split()) <= 80 and len(target.split()) <= 80 and 0.4 <= len(target) / len(source) <= 2.5
            and is_mostly_letters(source) and is_mostly_letters(target)
            and not is_english(target.lower(), language) and not is_copied(source.lower(), target.lower()))


def clean_pairs(kinds, language):
    """The clean ones of {kind: pairs}, each source once whatever its case, and {kind: how many}."""
    kept, counts, sources = [], {}, set()
    for kind, pairs in kinds.items():
        before = len(kept)
        for pair in pairs:
            lower = pair[1].lower()
            if lower not in sources and is_clean(pair[1], pair[2], language):
                sources.add(lower)
                kept.append(pair)
        counts[kind] = len(kept) - before
    return kept, counts


def part_of(document, validation, test):
    """The set of a document, drawn from its name alone, so that it stays there whatever else a corpus holds: `validation` and `test` of
    a thousand are held out."""
    drawn = int(hashlib.sha256(document.encode()).hexdigest()[:8], 16) % 1000
    return "test" if drawn < test else "validation" if drawn < test + validation else "train"


def in_files(pairs, suffixes=None, validation=20, test=20):
    """{name: bytes} and {what: count} of pairs: a file per side, <part>.<suffix>, or without suffixes <part>.tsv, a pair a line."""
    lines, counts = {}, {f"{part} pairs": 0 for part in ("train", "validation", "test")}
    for document, *sides in pairs:
        part = part_of(document, validation, test)
        counts[f"{part} pairs"] += 1
        for suffix, text in zip(suffixes or ["tsv"], sides if suffixes else ["\t".join(sides)]):
            lines.setdefault(f"{part}.{suffix}", []).append(text + "\n")
    return {name: "".join(texts).encode() for name, texts in lines.items()}, counts
