"""What the arms' own exact p would do in place of the size of their sums: min_p.py [--studies 400] [--seed 1]

Westfall and Young's step-down takes the largest statistic of all arms under each pattern of signs. max-T, the program's default, takes
|sum| / sqrt(sum of squares). min-P takes the share of patterns with a sum at least as large, so that one odd seed cannot hide an arm that is
worse in every seed. But with n seeds every arm has its smallest p, 2 / 2^n, under two patterns of its own, so that m arms make 2 m of them.
Both are offered: compare.correction.
Prints the share of studies that claim a difference of equal arms, and the power for arms that differ by two deviations of their runs.
"""

import argparse
import itertools

import numpy

from calibrate import claimed, differences, p_values


def own_p(samples):
    """Of every arm under every pattern. // [study, arm, pattern]"""
    seeds = samples.shape[2]
    signs = 1 - 2 * (numpy.arange(2 ** (seeds - 1))[:, None] >> numpy.arange(seeds) & 1)  # opposite patterns have the same |sum|
    sums = numpy.round(abs(samples @ signs.T), 9)
    ranked = numpy.sort(sums, 2)
    found = [[numpy.searchsorted(line, values) for line, values in zip(*one)] for one in zip(ranked, sums)]
    return 1 - numpy.array(found) / sums.shape[2]


def min_p(samples):
    """Adjusted p. // [study, arm]"""
    own = own_p(samples)
    order = numpy.argsort(own[:, :, 0], axis=1, kind="stable")
    in_order = numpy.take_along_axis(own, order[:, :, None], 1)
    rest = numpy.minimum.accumulate(in_order[:, ::-1], axis=1)[:, ::-1]  # the smallest from this step on
    steps = (rest <= in_order[:, :, :1] + 1e-12).mean(2)
    adjusted = numpy.empty_like(steps)
    numpy.put_along_axis(adjusted, order, numpy.maximum.accumulate(steps, axis=1), 1)
    return adjusted


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| noise | arms | seeds | size by max-T | by min-P | power by max-T | by min-P |\n|---|---:|---:|---:|---:|---:|---:|")
    for kind, arms, seeds in itertools.product(("normal", "heavy tails (t, 3)"), (1, 2, 4, 8), (6, 8, 10)):
        rates = []
        for effect in (0, 2):
            samples = differences(kind, arms, seeds, options.studies, effect, options.seed)
            rates += [claimed(p, effect) for p in (p_values(samples)[1], min_p(samples))]
        print(f"| {kind} | {arms} | {seeds} | {' | '.join(f'{rate:.2f}' for rate in rates)} |")


if __name__ == "__main__":
    main()
