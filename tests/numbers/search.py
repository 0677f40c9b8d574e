"""How often studies without a difference claim one when rates are searched for: search.py [--studies 4000] [--seed 1]

Both arms have the same loss at their best rates: curvature * (octaves from the best)^2, and scatter from run to run, which are the atlas's own
sizes. Rates are tried an octave apart, and the best rate lies anywhere between two of them: at the same place for both arms, or at places
of their own, so that the grid is unfair to one of them. With `tune.by: curve` every seed runs all rates, and the seeds' own cubics are
compared where that of each arm's mean is lowest. Fails if `tune.by: curve` claims more than 6 %, or `tune.by: seed` with the same place.
"""

import argparse
import functools
import itertools
import sys

import numpy

from calibrate import LEVEL, p_values

CURVATURES, SCATTERS = (0.01, 0.02), (0.006, 0.010)  # nats an octave squared, nats
GRID = numpy.arange(-2, 3)  # octaves
SEARCHES = {"a search for each seed": None, "shared, one tuning seed": 1, "shared, two": 2, "the seeds' curves": "curve"}
PLACES = {"at the same place": (False, 1), "at places of their own": (True, 1), "of their own, above them twice as steep": (True, 2)}
MOST = 0.06


def losses(draw, shape, best, curvature, scatter, steep):
    """Of runs at all rates, `steep` times as steep above the best. // [*shape, rates]"""
    octaves = GRID - best[..., None]
    return curvature * octaves**2 * numpy.where(octaves > 0, steep, 1) + draw.normal(0, scatter, (*shape, len(GRID)))


def at_vertices(runs):
    """The seeds' own cubics where that of their mean is lowest on the grid, or at the best tried rate if that is an end. // [study, seed]"""
    means = runs.mean(1)
    fit = numpy.linalg.pinv(numpy.vander(GRID, 4))  # [power, rate]
    fine = numpy.linspace(GRID[0], GRID[-1], 401)
    place = fine[(means @ fit.T @ numpy.vander(fine, 4).T).argmin(1)]
    place = numpy.where(abs(place) < GRID[-1], place, GRID[means.argmin(1)])
    return (runs @ fit.T @ numpy.vander(place, 4)[:, :, None])[:, :, 0]


def differences(draw, studies, seeds, search, apart, losses_of):
    """[study, seed]; `search`: how many tuning seeds, None if each seed has a search of its own, "curve" if it runs all rates."""
    found = []
    same = draw.uniform(-0.5, 0.5, studies)
    for _ in range(2):
        best = (draw.uniform(-0.5, 0.5, studies) if apart else same)[:, None]
        if search == "curve":
            found.append(at_vertices(losses_of(draw, (studies, seeds), best)))
            continue
        tried = losses_of(draw, (studies, search or seeds), best)
        chosen = tried.argmin(2) if search is None else numpy.repeat(tried.mean(1).argmin(1)[:, None], seeds, axis=1)
        runs = losses_of(draw, (studies, seeds), best)
        found.append(numpy.take_along_axis(runs, chosen[:, :, None], 2)[:, :, 0])
    return found[1] - found[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--studies", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"| best rates | seeds | {' | '.join(SEARCHES)} |\n|---|---:|{'---:|' * len(SEARCHES)}")
    worst = dict.fromkeys(SEARCHES, 0)
    for (place, (apart, steep)), seeds in itertools.product(PLACES.items(), (6, 8)):
        cells = []
        for number, (name, search) in enumerate(SEARCHES.items()):
            draw = numpy.random.default_rng([options.seed, seeds, number, apart])
            rates = [(p_values(differences(draw, options.studies, seeds, search, apart, functools.partial(losses, curvature=curvature, scatter=scatter, steep=steep))
                               [:, None])[1] <= LEVEL).mean() for curvature, scatter in itertools.product(CURVATURES, SCATTERS)]
            if search == "curve" or not apart:
                worst[name] = max(worst[name], *rates)
            cells.append(f"{100 * min(rates):.1f} to {100 * max(rates):.1f} %")
        print(f"| {place} | {seeds} | {' | '.join(cells)} |")
    for name, search in SEARCHES.items():
        if search in (None, "curve") and worst[name] > MOST:
            sys.exit(f"{name}: {100 * worst[name]:.1f} % claim a difference of equal arms, more than {100 * MOST:.0f} %")


main()
