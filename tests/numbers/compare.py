"""Holds metrics, tests and intervals against other people's implementations: compare.py PROGRAM [--cases 500] [--seed 1]

PROGRAM is build/answer_numbers. BLEU and chrF are compared with sacrebleu, ROUGE with rouge-score, the word error rate with
jiwer, everything else with SciPy, statsmodels or the definition written down in NumPy, on inputs drawn at random: ordinary
ones, and hostile ones (empty lines, runs of punctuation, other scripts, combining characters, ties, huge and tiny numbers).
"""

import argparse
import itertools
import json
import math
import random
import subprocess
import sys

import jiwer
import numpy
import pandas
import sacrebleu
import scipy.optimize
import scipy.stats
from rouge_score.rouge_scorer import RougeScorer
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from collapse_rates import collapsed

WORDS = ["the", "dog", "runs", "a", "House", "2,500", "3.14", "don't", "--", "...", "\"", "Straße", "naïve", "été", "日本", "語",
         "e\u0301", "\u00a0", "😀", "&amp;", "<skipped>", "-", "I", "İ", "ﬁne", "x" * 40, "1-2", "U.S.", "%", "(a)", "مرحبا"]
ROUGE = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)


def line(draw, allow_empty):
    count = draw.randint(0 if allow_empty else 1, 12)
    return " ".join(draw.choice(WORDS) for _ in range(count))


def noisy(draw, words):
    """A line that shares some of its words with another one."""
    kept = [word for word in words.split(" ") if draw.random() < 0.7]
    kept += [draw.choice(WORDS) for _ in range(draw.randint(0, 3))]
    return " ".join(kept)


def lines_question(draw):
    references = [line(draw, allow_empty=False) for _ in range(draw.randint(1, 6))]
    references[0] = "the " + references[0]  # a corpus without a word has no error rate
    hypotheses = [reference if draw.random() < 0.2 else noisy(draw, reference) for reference in references]
    return {"what": "lines", "hypotheses": hypotheses, "references": references}


def numbers(draw, count):
    scale = 10.0 ** draw.randint(-8, 8)
    values = [draw.gauss(draw.choice([0, 0.5, 3]), 1) * scale for _ in range(count)]
    if draw.random() < 0.3:  # ties
        values = [round(value / scale) * scale for value in values]
    return values


def sample_question(draw):
    values = numbers(draw, draw.randint(2, 10))
    return {"what": "sample", "values": values, "margin": draw.choice([0.5, 1, 2]) * (max(map(abs, values)) or 1)}


def joint_question(draw):
    seeds = draw.randint(1, 9)
    return {"what": "joint", "samples": [numbers(draw, seeds) for _ in range(draw.randint(1, 5))]}


def collapse_question(draw):
    values = [draw.gauss(0.9, draw.choice([0.01, 0.1])) - 0.8 * (draw.random() < 0.3) * draw.random() for _ in range(draw.randint(1, 12))]
    return {"what": "collapse", "values": values, "higher": draw.random() < 0.5, "bounds": draw.choice([None, [0, 1]])}


def holm_question(draw):
    return {"what": "holm", "p": [draw.random() ** draw.choice([1, 4]) for _ in range(draw.randint(1, 12))]}


def share_question(draw):
    count = draw.choice([1, 2, 10, 1000])
    return {"what": "share", "hits": draw.randint(0, count), "count": count}


def groups_question(draw):
    return {"what": "groups", "left": numbers(draw, draw.randint(1, 8)), "right": numbers(draw, draw.randint(1, 8))}


def fit_question(draw):
    return {"what": "fit", "points": [[2.0 ** draw.uniform(0, 20) + index, 10.0 ** draw.uniform(-3, 3)] for index in range(draw.randint(4, 9))]}


def pool_question(draw):
    covariates, scatter = draw.randint(0, 2), draw.choice([0, 0.01, 1])
    count = covariates + 3 + draw.randint(0, 8)
    studies = [[draw.gauss(0.1, scatter + 0.01), draw.uniform(0.001, 0.1), [draw.uniform(4, 9) for _ in range(covariates)]] for _ in range(count)]
    return {"what": "pool", "studies": studies, "place": [draw.uniform(4, 9) for _ in range(covariates)]}


def cross_question(draw):
    rows, columns = draw.randint(2, 6), draw.randint(2, 6)
    effects = [draw.gauss(0, draw.choice([0, 1])) for _ in range(columns)]
    table = [[draw.gauss(row, 1) + effect for effect in effects] for row in (draw.gauss(0, draw.choice([0, 1, 5])) for _ in range(rows))]
    return {"what": "cross", "table": table}


QUESTIONS = [lines_question, sample_question, joint_question, collapse_question, holm_question, share_question, groups_question, fit_question, pool_question, cross_question]


def lines_answer(question):
    hypotheses, references = question["hypotheses"], question["references"]
    rouge = [ROUGE.score(reference, hypothesis) for hypothesis, reference in zip(hypotheses, references)]
    mean = {key: sum(score[key].fmeasure for score in rouge) / len(rouge) for key in ("rouge1", "rouge2", "rougeL")}
    return {"bleu": sacrebleu.corpus_bleu(hypotheses, [references]).score,
            "bleu_lowercase": sacrebleu.corpus_bleu(hypotheses, [references], lowercase=True).score,
            "chrf": sacrebleu.corpus_chrf(hypotheses, [references]).score,
            "chrf_words": sacrebleu.corpus_chrf(hypotheses, [references], word_order=2).score,
            "rouge_1": mean["rouge1"], "rouge_2": mean["rouge2"], "rouge_l": mean["rougeL"],
            "word_error_rate": jiwer.wer(references, hypotheses)}


def flips(count):
    return numpy.array(list(itertools.product([1, -1], repeat=count)))


def share_at_least(differences, absolute):
    """Share of sign patterns whose sum is at least the observed one."""
    sums = flips(len(differences)) @ numpy.array(differences)
    observed = sum(differences)
    slack = 1e-12 * sum(map(abs, differences))  # sums that only rounding tells apart are equal
    return float(numpy.mean((abs(sums) if absolute else sums) >= (abs(observed) if absolute else observed) - slack))


def sample_answer(question):
    values, margin = question["values"], question["margin"]
    deviation = numpy.std(values, ddof=1)
    answer = {"mean": numpy.mean(values), "deviation": deviation, "sign_flip_p": share_at_least(values, absolute=True),
              "equivalence_p": max(share_at_least([value + margin for value in values], absolute=False),
                                   share_at_least([margin - value for value in values], absolute=False))}
    low = high = numpy.mean(values) if answer["sign_flip_p"] <= 0.05 else 0  # of equal values by flipping signs; 0: none
    if len(set(values)) > 1:
        low, high = scipy.stats.t.interval(0.95, len(values) - 1, loc=numpy.mean(values), scale=scipy.stats.sem(values))
    return answer | {"low": low, "high": high} | t_tests(values)


def t_tests(values):
    if len(set(values)) == 1:
        return {"t_test_p": share_at_least(values, absolute=True), "t_greater_p": share_at_least(values, absolute=False)}
    return {"t_test_p": scipy.stats.ttest_1samp(values, 0).pvalue,
            "t_greater_p": scipy.stats.ttest_1samp(values, 0, alternative="greater").pvalue}


def closed_p(samples, absolute):
    """Closed testing (Marcus et al. 1976) of the largest statistic of every set of hypotheses."""
    scaled = [numpy.array(sample) / (max(map(abs, sample)) or 1) for sample in samples]
    sums = [flips(len(sample)) @ sample / (numpy.sqrt((sample**2).sum()) or 1) for sample in scaled]
    table = numpy.array([abs(one) if absolute else one for one in sums])
    sets = [list(s) for n in range(1, len(samples) + 1) for s in itertools.combinations(range(len(samples)), n)]
    p = [(numpy.max(table[s], 0) >= numpy.max(table[s, 0]) - 1e-11).mean() for s in sets]
    return [max(one for s, one in zip(sets, p) if i in s) for i in range(len(samples))]


def joint_answer(question):
    samples = question["samples"]
    alone = [share_at_least(sample, absolute=True) for sample in samples]
    return {"holm": list(multipletests(alone, method="holm")[1]), "both": closed_p(samples, True), "greater": closed_p(samples, False)}


def collapse_answer(question):
    return {"collapsed": collapsed(question["values"], question["higher"], question["bounds"])}


def holm_answer(question):
    return {"holm": list(multipletests(question["p"], method="holm")[1])}


def share_answer(question):
    low, high = proportion_confint(question["hits"], question["count"], method="wilson")
    return {"low": low, "high": high}


def groups_answer(question):
    left, right = question["left"], question["right"]
    u = scipy.stats.mannwhitneyu(left, right, method="asymptotic").statistic
    return {"greater": u / (len(left) * len(right)), "interquartile_mean": scipy.stats.trim_mean(left + right, 0.25)}


def fit_answer(question):
    x, y = numpy.log(numpy.array(question["points"])).T
    found = scipy.stats.linregress(x, y)
    return {"factor": math.exp(found.intercept), "exponent": found.slope, "r_squared": found.rvalue**2}


def pool_answer(question):
    """Paule & Mandel 1982 and Knapp & Hartung 2003 by NumPy's least squares of whitened rows and SciPy's roots."""
    y, error, place = (numpy.array([study[i] for study in question["studies"]]) for i in range(3))
    design = numpy.column_stack([numpy.ones(len(y)), place.reshape(len(y), -1)])
    degrees = len(y) - design.shape[1]

    def fitted(tau2):
        root = (error**2 + tau2) ** -0.5
        found = numpy.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
        return found, (((y - design @ found) * root) ** 2).sum(), numpy.linalg.inv((design * root[:, None]).T @ (design * root[:, None]))

    excess = lambda tau2: fitted(tau2)[1] - degrees
    tau2 = scipy.optimize.brentq(excess, 0, 1e6, xtol=1e-30, rtol=1e-15) if excess(0) > 0 else 0.0
    found, squares, covariance = fitted(tau2)
    row = numpy.array([1, *question["place"]])
    mean, variance = row @ found, max(1.0, squares / degrees) * (row @ covariance @ row)
    half = scipy.stats.t.ppf(0.975, degrees) * variance**0.5
    wide = scipy.stats.t.ppf(0.975, degrees - 1) * (variance + tau2) ** 0.5
    return {"tau": tau2**0.5, "coefficients": list(found), "confidence": [mean - half, mean + half], "prediction": [mean - wide, mean + wide]}


def cross_answer(question):
    table = question["table"]
    cells = [(i, j, value) for i, line in enumerate(table) for j, value in enumerate(line)]
    found = anova_lm(ols("value ~ C(row) + C(column)", pandas.DataFrame(cells, columns=["row", "column", "value"])).fit())
    row, column, rest = found["sum_sq"] / found["df"]
    return {"components": [max(0.0, (row - rest) / len(table[0])), max(0.0, (column - rest) / len(table)), rest]}


ANSWERS = {"lines": lines_answer, "sample": sample_answer, "joint": joint_answer, "collapse": collapse_answer, "holm": holm_answer,
           "share": share_answer, "groups": groups_answer, "fit": fit_answer, "pool": pool_answer, "cross": cross_answer}


def differs(ours, theirs, scale):
    if isinstance(theirs, list):
        return len(ours) != len(theirs) or any(differs(a, b, scale) for a, b in zip(ours, theirs, strict=True))
    return not abs(ours - theirs) <= 1e-9 * max(abs(theirs), scale)


def scale_of(question):
    """What rounding is measured by where a result is a small difference of large numbers."""
    given = question.get("values") or question.get("left", []) + question.get("right", [])
    return max([abs(value) for value in given], default=1e-3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=500, help="of each kind (default 500)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    questions = [make(draw) for make in QUESTIONS for _ in range(options.cases)]
    asked = "".join(json.dumps(question) + "\n" for question in questions)
    answers = subprocess.run([options.program], input=asked, capture_output=True, text=True, check=True).stdout.splitlines()
    wrong, compared = 0, {}
    for question, answered in zip(questions, answers, strict=True):
        ours = json.loads(answered)
        for name, theirs in ANSWERS[question["what"]](question).items():
            compared[name] = compared.get(name, 0) + 1
            if differs(ours[name], theirs, scale_of(question)):
                wrong += 1
                if wrong <= 10:
                    print(f"{name}: {ours[name]!r}, they say {theirs!r}, of {json.dumps(question, ensure_ascii=False)}")
    print(", ".join(f"{name} {count}" for name, count in compared.items()))
    print(f"{sum(compared.values())} numbers compared, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
