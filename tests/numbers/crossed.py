"""What tests of crossed seeds would claim of equal arms: crossed.py [--studies 4000] [--seed 1]

A difference is the effect of its initialization, that of its order, and a rest, all normal. Sign flips of all pairs take them for independent.
Those of the means of initializations and of the means of orders, of which the larger p counts, leave out the scatter that all means of one
kind share. The disjoint pairs (1, 1), (2, 2), ... are independent, and use one run in a. Prints the share of studies with p at most 0.05.
"""

import argparse

import numpy

PATTERNS = 512  # drawn, where there are more


def signs(count, draw):
    if 2**count <= 4 * PATTERNS:
        return 1 - 2 * (numpy.arange(2**count)[:, None] >> numpy.arange(count) & 1)
    return numpy.vstack([numpy.ones(count), draw.choice([-1, 1], (PATTERNS - 1, count))])


def sign_flip_p(samples, draw):
    """Two-sided. // [study, value] -> [study]"""
    sums = abs(samples @ signs(samples.shape[1], draw).T)
    return (sums >= abs(samples.sum(1))[:, None] - 1e-9).mean(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--studies", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = numpy.random.default_rng(options.seed)
    print("| seeds | deviations: initialization, order, rest | all pairs | rows and columns | disjoint pairs |\n|---|---|---:|---:|---:|")
    for count in (6, 8):
        for initialization, order, rest in ((0, 0, 1), (1, 0, 1), (1, 1, 1), (1, 1, 0)):
            normal = lambda *shape: draw.standard_normal((options.studies, *shape))
            d = initialization * normal(count, 1) + order * normal(1, count) + rest * normal(count, count)
            p = [sign_flip_p(d.reshape(len(d), -1), draw), numpy.maximum(sign_flip_p(d.mean(2), draw), sign_flip_p(d.mean(1), draw)),
                 sign_flip_p(d.diagonal(axis1=1, axis2=2), draw)]
            rates = " | ".join(f"{(one <= 0.05).mean():.3f}" for one in p)
            print(f"| {count} x {count} | {initialization}, {order}, {rest} | {rates} |")


if __name__ == "__main__":
    main()
