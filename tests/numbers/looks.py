"""How often a study that is looked at after every seed claims a difference: looks.py PROGRAM [--studies 2000] [--seed 1]

PROGRAM is build/answer_numbers; its p of e-values must be that of the lines below, which follow the formula of docs/statistics.md. One
comparison of 20 seeds, whose differences have a standard deviation of 1. Fails if more than 3 % of the studies without an effect claim one,
or the median study with an effect of two deviations needs more than seven seeds.
"""

import argparse
import json
import subprocess
import sys

import numpy

from calibrate import LEVEL

RATES = numpy.array([0.3, 0.6, 1, 2, 8])
SEEDS, MOST, MEDIAN = 20, 0.03, 7


def looks(samples):
    """The p at every look: [study, seed] -> [study, seed]"""
    scale = numpy.sqrt(numpy.cumsum(samples**2, 1) / numpy.arange(1, samples.shape[1] + 1))
    bets = 2 * RATES * (samples / scale)[:, :, None]
    values = [numpy.cumprod(2 / (1 + numpy.exp(-sign * bets)), 1).mean(2) for sign in (1, -1)]
    return 1 / numpy.maximum(1, numpy.maximum.accumulate(sum(values) / 2, 1))


def induced_looks(samples):
    """The first look at which the signed-rank test of all seeds is sure to reject, whatever the further seeds are; one more than the seeds if
    none: Koning and van Meer 2025 (arXiv 2501.03982), whose sequential test is the conditional probability of a rejection. [study, seed] -> [study]"""
    seeds = samples.shape[1]
    ways = numpy.ones(1)
    for rank in range(1, seeds + 1):
        ways = numpy.pad(ways, (0, rank)) + numpy.pad(ways, (rank, 0))
    allowed = numpy.searchsorted(numpy.cumsum(ways) / 2**seeds, LEVEL / 2, side="right") - 1
    first = numpy.full(len(samples), seeds + 1)
    for seen in range(seeds, 0, -1):
        ranks = numpy.abs(samples[:, :seen]).argsort(1).argsort(1) + 1
        unseen = numpy.arange(seen + 1, seeds + 1).sum()  # at worst the largest, with the other sign
        against = [(ranks * (samples[:, :seen] * sign < 0)).sum(1) + unseen for sign in (1, -1)]
        first[numpy.minimum(*against) <= allowed] = seen
    return first


def of_program(program, samples):
    questions = "".join(json.dumps({"what": "e_value", "values": list(values)}) + "\n" for values in samples)
    answers = subprocess.run([program], input=questions, text=True, stdout=subprocess.PIPE, check=True).stdout
    return numpy.array([json.loads(line)["p"] for line in answers.splitlines()])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| effect, deviations | claimed within 12 seeds | within 20 | median seeds | induced test of 12: claimed | median seeds |")
    print("|---:|---:|---:|---:|---:|---:|")
    rates, medians = {}, {}
    for effect in (0, 1, 2):
        samples = numpy.random.default_rng([options.seed, effect]).normal(effect, 1, (options.studies, SEEDS))
        p = looks(samples)
        if not numpy.allclose(of_program(options.program, samples), p[:, -1], rtol=1e-9):
            sys.exit("the program has another p")
        claimed = p <= LEVEL
        first = numpy.where(claimed.any(1), claimed.argmax(1) + 1, SEEDS + 1)
        rates[effect], medians[effect] = claimed[:, -1].mean(), numpy.median(first)
        shown = f"{medians[effect]:.0f}" if medians[effect] <= SEEDS else f"> {SEEDS}"
        induced = induced_looks(samples[:, :12])
        median = f"{numpy.median(induced):.0f}" if numpy.median(induced) <= 12 else "> 12"
        print(f"| {effect} | {100 * claimed[:, 11].mean():.1f} % | {100 * rates[effect]:.1f} % | {shown} "
              f"| {100 * (induced <= 12).mean():.1f} % | {median} |")
    if rates[0] > MOST or medians[2] > MEDIAN:
        sys.exit(f"more than {100 * MOST:.0f} % without an effect, or a median of more than {MEDIAN} seeds with two deviations")


main()
