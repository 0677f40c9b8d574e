#!/usr/bin/env python3
"""Writes word_error_rate.json: cases with the word error rate of the jiwer package, without any transformation of the words.

    pip install jiwer==4.0.0 && python3 word_error_rate_golden.py > word_error_rate.json

Every case is a corpus: hypotheses, references, and the rate over all lines. The words are few, so that many are common.
"""
import json
import random
import sys
from importlib.metadata import version

import jiwer

assert version("jiwer") == "4.0.0", version("jiwer")


def words(rng, fewest, gaps=(" ",)):
    return "".join(rng.choice(["a", "b", "B", "c0", "ü"]) + rng.choice(gaps) for _ in range(rng.randint(fewest, 12)))


def main():
    rng = random.Random(22)
    cases = []
    for number in range(200):
        lines = rng.randint(1, 4)
        gaps = (" ",) if number < 100 else (" ", "  ", "\t", "\u00a0", "\u00a0 ", "\t\t", "\u3000", "\x1c")
        hypotheses = [words(rng, 0, gaps) for _ in range(lines)]
        references = [words(rng, 1, gaps) for _ in range(lines)]
        cases.append({"hypotheses": hypotheses, "references": references, "rate": jiwer.wer(references, hypotheses)})
    json.dump({"cases": cases}, sys.stdout, ensure_ascii=True, separators=(",", ":"))
    print()


main()
