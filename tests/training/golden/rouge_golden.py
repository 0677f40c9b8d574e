#!/usr/bin/env python3
"""Writes rouge.json: cases with the values of the rouge-score package, its default tokenizer, no stemming.

    pip install rouge-score==0.1.2 && python3 rouge_golden.py > rouge.json

Every case is a corpus: hypotheses, references, and the F1 of ROUGE-1, ROUGE-2 and ROUGE-L, means over the lines. The texts
are those of sacrebleu.json, which are full of signs and cases, and sequences over few words, where many parts are common.
"""
import json
import pathlib
import random
import sys
from importlib.metadata import version

from rouge_score import rouge_scorer

assert version("rouge-score") == "0.1.2", version("rouge-score")
SCORER = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)


def case(hypotheses, references):
    scores = [SCORER.score(r, h) for h, r in zip(hypotheses, references)]
    means = {name: sum(s[name].fmeasure for s in scores) / len(scores) for name in SCORER.rouge_types}
    return {"hypotheses": hypotheses, "references": references, **means}


def words(rng):
    return " ".join(rng.choice(["a", "b", "B", "c0", "d-e"]) for _ in range(rng.randint(0, 20)))


def main():
    rng = random.Random(21)
    golden = json.loads((pathlib.Path(__file__).parent / "sacrebleu.json").read_text(encoding="utf-8"))
    cases = [case(c["hypotheses"], c["references"]) for c in golden["cases"] if len(c["references"]) < 10]
    for _ in range(100):
        lines = rng.randint(1, 4)
        cases.append(case([words(rng) for _ in range(lines)], [words(rng) for _ in range(lines)]))
    json.dump({"cases": cases}, sys.stdout, ensure_ascii=True, separators=(",", ":"))
    print()


main()
