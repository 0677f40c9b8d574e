"""How often studies without a difference claim one when rates are searched for: search.py [--studies 4000] [--seed 1]

Both arms have the same loss at their best rates: curvature * (octaves from the best)^2, and scatter from run to run, which are the atlas's own
sizes. Rates are tried an octave apart, and the best rate lies anywhere between two of them: at the same place for both arms, or at places
of their own, so that the grid is unfair to one of them. Fails if `tune.by: seed` claims more than 6 % with the same place.
"""

import argparse
import itertools
import sys

import numpy

from calibrate import LEVEL, p_values

CURVATURES, SCATTERS = (0.01, 0.02), (0.006, 0.010)  # nats an octave squared, nats
GRID = numpy.arange(-2, 3)  # octaves
MOST = 0.06


def losses(draw, shape, curvature, scatter, best):
    """Of runs at all rates. // [*shape, rates]"""
    return curvature * (GRID - best[..., None]) ** 2 + draw.normal(0, scatter, (*shape, len(GRID)))


def differences(draw, studies, seeds, tuning_seeds, curvature, scatter, apart):
    """[study, seed]; `tuning_seeds` is None if each seed has a search of its own."""
    found = []
    same = draw.uniform(-0.5, 0.5, studies)
    for _ in range(2):
        best = draw.uniform(-0.5, 0.5, studies) if apart else same
        searches = seeds if tuning_seeds is None else tuning_seeds
        tried = losses(draw, (studies, searches), curvature, scatter, best[:, None])
        chosen = tried.argmin(2) if tuning_seeds is None else numpy.repeat(tried.mean(1).argmin(1)[:, None], seeds, axis=1)
        runs = losses(draw, (studies, seeds), curvature, scatter, best[:, None])
        found.append(numpy.take_along_axis(runs, chosen[:, :, None], 2)[:, :, 0])
    return found[1] - found[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--studies", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| best rates | seeds | shared, one tuning seed | shared, two | a search for each seed |\n|---|---:|---:|---:|---:|")
    worst = 0
    for apart, seeds in itertools.product((False, True), (6, 8)):
        rates = {}
        for tuning_seeds in (1, 2, None):
            draw = numpy.random.default_rng([options.seed, seeds, tuning_seeds or 0, apart])
            rates[tuning_seeds] = [(p_values(differences(draw, options.studies, seeds, tuning_seeds, curvature, scatter, apart)[:, None])[1] <= LEVEL).mean()
                                   for curvature, scatter in itertools.product(CURVATURES, SCATTERS)]
        if not apart:
            worst = max(worst, *rates[None])
        cells = " | ".join(f"{100 * min(found):.1f} to {100 * max(found):.1f} %" for found in rates.values())
        print(f"| {'at places of their own' if apart else 'at the same place'} | {seeds} | {cells} |")
    if worst > MOST:
        sys.exit(f"a search for each seed claims {100 * worst:.1f} % with equal arms, more than {100 * MOST:.0f} %")


main()
