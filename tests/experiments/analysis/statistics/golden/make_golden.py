#!/usr/bin/env python3
"""Writes golden.json: values of SciPy and sacreBLEU.

    pip install numpy==2.4.6 scipy==1.17.1 sacrebleu==2.6.0 && python3 make_golden.py > golden.json

`t_quantiles`: of 0.975, by degrees of freedom; `t_tails`: two-sided probabilities; `samples`: intervals and tests of samples by scipy.stats; `corpora`: pairs of systems
with the p that sacreBLEU's paired tests give them; `joint`: studies of several samples, tested in NumPy by definition: by the largest
statistic and, `min_p`, by the smallest p of a sample alone.
"""
import itertools
import json
import random
import sys

import numpy
import sacrebleu
import scipy
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest
from scipy import stats

assert numpy.__version__ == "2.4.6", numpy.__version__
assert scipy.__version__ == "1.17.1", scipy.__version__
assert sacrebleu.__version__ == "2.6.0", sacrebleu.__version__


def sample_case(left, right):
    left, right = numpy.array(left), numpy.array(right)
    differences = left - right
    interval = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    flips = stats.permutation_test((differences,), numpy.sum, permutation_type="samples", n_resamples=numpy.inf)
    u = stats.mannwhitneyu(left, right).statistic
    one_sided = lambda shifted: stats.permutation_test(
        (shifted,), numpy.sum, permutation_type="samples", n_resamples=numpy.inf, alternative="greater").pvalue
    both = numpy.concatenate([left, right])
    return {
        "left": left.tolist(),
        "right": right.tolist(),
        "mean": differences.mean(),
        "deviation": differences.std(ddof=1),
        "interval": [interval.low, interval.high],
        "sign_flip_p": flips.pvalue,
        "t_test_p": stats.ttest_1samp(differences, 0).pvalue,
        "t_greater_p": stats.ttest_1samp(differences, 0, alternative="greater").pvalue,
        "interval_99": list(stats.ttest_1samp(differences, 0).confidence_interval(0.99)),
        "equivalence": [{"margin": margin, "p": max(one_sided(margin + differences), one_sided(margin - differences))}
                        for margin in (0.25, 1.5, 4)],
        "probability_greater": u / (len(left) * len(right)),
        "interquartile_mean": stats.trim_mean(both, 0.25),
    }


def share_case(hits, count, method):
    interval = stats.binomtest(hits, count).proportion_ci(0.95, method=method)
    return {"hits": hits, "count": count, "interval": [interval.low, interval.high]}


def holm_case(p):
    """Holm 1979 by its definition: closed testing of Bonferroni over every set of hypotheses."""
    adjusted = []
    for i in range(len(p)):
        sets = [s for n in range(1, len(p) + 1) for s in itertools.combinations(range(len(p)), n) if i in s]
        adjusted.append(max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets))
    return {"p": p, "adjusted": adjusted}


LEVEL, SLACK = 0.05, 1e-11
SHARES = ((0, 6), (6, 6), (3, 6), (1, 10), (128, 256), (0, 256), (487, 1000))


def statistics_of(values, signs, absolute=True):
    """Under each pattern: |sum| / sqrt(sum of squares)."""
    sums = signs @ values
    return (abs(sums) if absolute else sums) / numpy.sqrt((values**2).sum())


def own_p(values, signs, absolute=True):
    """Under each pattern: minus the share of patterns with a statistic as large, the p of the sample alone if that pattern were observed."""
    found = statistics_of(values, signs, absolute)
    return (numpy.searchsorted(numpy.sort(found), found - SLACK) - len(found)) / len(found)


def closed_p(samples, signs, absolute, of=statistics_of):
    """Closed testing (Marcus et al. 1976) of the largest statistic of every set of hypotheses, or of the smallest own p."""
    table = numpy.array([of(values, signs, absolute) for values in samples])
    adjusted = []
    for i in range(len(samples)):
        sets = [s for n in range(1, len(samples) + 1) for s in itertools.combinations(range(len(samples)), n) if i in s]
        largest = [table[list(s)].max(0) for s in sets]
        adjusted.append(max((one >= one[0] - SLACK).mean() for one in largest))
    return adjusted


def inverted(samples, slopes, signs, of=statistics_of):
    """The ends of what a test of each theta does not reject, by bisection between a theta inside and one far outside."""
    table = numpy.array([of(values, signs) for values in samples])
    p = closed_p(samples, signs, True, of)
    intervals = []
    for i, (values, slope) in enumerate(zip(samples, slopes)):
        more_clear = [k for k in range(len(samples)) if p[k] <= LEVEL and table[k][0] > (table[i][0] if p[i] <= LEVEL else -1)]
        rest = [k for k in range(len(samples)) if k != i and k not in more_clear]
        rivals = table[rest].max(0) if rest else numpy.full(len(signs), -numpy.inf)

        def holds(theta):
            own = of(values - theta * slope, signs)
            return (numpy.maximum(own, rivals) >= own[0] - SLACK).mean() > LEVEL

        ends = []
        for direction in (-1, 1):
            inside = values.sum() / slope.sum()
            outside = inside + direction * 1e4 * abs(values).max()
            if holds(outside):
                break
            for _ in range(200):
                middle = (inside + outside) / 2
                inside, outside = (middle, outside) if holds(middle) else (inside, middle)
            ends.append(inside)
        intervals.append(ends if len(ends) == 2 else None)
    return intervals


def joint_case(seed, seeds, effects, ties=False):
    rng = numpy.random.default_rng(seed)
    baseline = rng.normal(0, 1, seeds)
    samples = [rng.normal(effect, 1, seeds) - baseline for effect in effects]
    if ties:
        samples = [numpy.round(2 * sample) / 2 + 0.25 for sample in samples]
    baselines = [scale * (numpy.exp(baseline) if ties else 5 + baseline) for scale in range(1, len(effects) + 1)]
    signs = numpy.array(list(itertools.product([1, -1], repeat=seeds)))
    ones = numpy.ones(seeds)
    return {
        "samples": [sample.tolist() for sample in samples],
        "baselines": [one.tolist() for one in baselines],
        "both": closed_p(samples, signs, True),
        "greater": closed_p(samples, signs, False),
        "intervals": inverted(samples, [ones] * len(samples), signs),
        "ratio_intervals": inverted(samples, baselines, signs),
        "min_p": {
            "both": closed_p(samples, signs, True, own_p),
            "greater": closed_p(samples, signs, False, own_p),
            "intervals": inverted(samples, [ones] * len(samples), signs, own_p),
            "ratio_intervals": inverted(samples, baselines, signs, own_p),
        },
    }


WORDS = "the a cat dog sat ran on under mat rug , . big small red blue house it was there then ! Straße".split()


def system(rng, references, noise):
    return [" ".join(rng.choice(WORDS) if rng.random() < noise else w for w in line.split()) for line in references]


def corpus_case(seed, sentences, noises):
    rng = random.Random(seed)
    references = [" ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 18))) for _ in range(sentences)]
    baseline, other = (system(rng, references, noise) for noise in noises)
    case = {"references": references, "baseline": baseline, "system": other}
    for test in ("bs", "ar"):
        metrics = {"bleu": BLEU(references=[references]), "chrf": CHRF(references=[references])}
        _, scores = PairedTest([("baseline", baseline), ("system", other)], metrics, None, test_type=test)()
        case[test] = {name: {"scores": [r.score for r in results], "p": results[1].p_value}
                      for name, results in (("bleu", scores["BLEU"]), ("chrf", scores["chrF2"]))}
    return case


def main():
    rng = random.Random(1)
    draw = lambda n, shift: [rng.gauss(shift, 1) for _ in range(n)]
    samples = [sample_case(draw(n, shift), draw(n, 0)) for n in (2, 3, 5, 6, 8, 10, 13) for shift in (0, 0.5, 2)]
    samples.append(sample_case([1, 2, 3, 4, 4, 5], [1, 1, 2, 2, 3, 3]))  # ties and a difference of 0
    samples.append(sample_case([0.5, 0.25, 0.75, 1.0], [0.25, 0.5, 0.5, 0.75]))  # equally far sums
    golden = {
        "t_quantiles": [{"degrees": n, "quantile": stats.t.ppf(0.975, n)} for n in (*range(1, 31), 99, 100, 999, 12345)],
        "t_tails": [{"degrees": n, "t": t, "tail": 2 * stats.t.sf(t, n)} for n in (1, 2, 5, 6, 9, 30, 999) for t in (0, 0.3, 2, 5, 20, 300)],
        "normal_quantile": stats.norm.ppf(0.975),
        "samples": samples,
        "wilson": [share_case(*c, "wilson") for c in SHARES],
        "exact": [share_case(*c, "exact") for c in SHARES],
        "false_discovery": [{"p": p, "q": stats.false_discovery_control(p).tolist()}
                            for p in ([0.03], [0.041, 0.001, 0.039, 0.08, 0.008, 0.041, 0.06, 0.074], [1.0, 0.2, 1.0])],
        "holm": [holm_case(p) for p in ([0.03], [0.01, 0.04, 0.03], [0.5, 0.6, 0.01, 0.01], [0.2, 0.9, 0.02, 0.021, 1.0])],
        "joint": [joint_case(seed, seeds, effects, ties) for seed, (seeds, effects, ties) in enumerate(itertools.product(
            (5, 6, 7, 9), ((0,), (3, 0), (4, 2, 1, 0), (-5, -3, 4, 0.5, 3)), (False, True)))],
        "corpora": [corpus_case(*c) for c in ((1, 40, (0.3, 0.25)), (2, 120, (0.4, 0.4)), (3, 150, (0.5, 0.4)),
                                              (4, 25, (0.9, 0.95)), (5, 60, (0.1, 0.12)), (6, 2, (0.3, 0.3)))],
    }
    json.dump(golden, sys.stdout, ensure_ascii=False, indent=0)


main()
