"""How often Holm's method and the joint test claim something: calibrate.py [PROGRAM] [--studies 4000] [--seed 1]

Without PROGRAM it writes calibration.json beside itself, from tests in NumPy: rows of effect, noise, arms, seeds, and the rates by both
tests. With it, build/answer_numbers, it tests fewer studies by that program, and by NumPy, whose p must agree, and holds the rates against
that file, and the table of docs/statistics.md against its rows without an effect.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys

import numpy

PAGE = pathlib.Path(__file__).parents[2] / "docs/statistics.md"
FILE = pathlib.Path(__file__).with_name("calibration.json")
LEVEL = 0.05
ARMS, SEEDS = (1, 2, 4, 8), (6, 7, 8, 10)
SCALES = numpy.array([0.1, 0.1, 1, 5, 0.3, 2, 0.2, 4, 0.5])  # of the baseline and of arms
QUIET = 0.1  # deviation of a baseline beside skewed or collapsing arms


def normal(draw, shape):
    return draw.normal(0, 1, shape)


def heavy(draw, shape):
    return draw.standard_t(3, shape) / numpy.sqrt(3)


def scaled(draw, shape):
    return draw.normal(0, 1, shape) * SCALES[None, :shape[1], None]


def skewed(draw, shape):
    runs = draw.exponential(1, shape) - 1
    runs[:, 0] = draw.normal(0, QUIET, runs[:, 0].shape)
    return runs


def collapsing(draw, shape):
    """An arm falls by 20 of its deviations in one seed of ten; all means are equal."""
    runs = draw.normal(0, 1, shape)
    runs[:, 1:] += 2 - 20 * (draw.random(runs[:, 1:].shape) < 0.1)
    runs[:, 0] *= QUIET
    return runs


NOISES = {"normal": normal, "heavy tails (t, 3)": heavy, "unequal scales": scaled, "skewed arms": skewed, "collapsing arms": collapsing}


def differences(kind, arms, seeds, studies, effect, seed):
    """[study, arm, seed]; the first half of the arms has the effect, in deviations of its runs."""
    draw = numpy.random.default_rng([seed, list(NOISES).index(kind), arms, seeds, effect])
    runs = NOISES[kind](draw, (studies, arms + 1, seeds))
    effects = numpy.zeros(arms)
    effects[:max(1, arms // 2)] = effect
    if kind == "unequal scales":
        effects *= SCALES[1:arms + 1]
    return runs[:, 1:] - runs[:, :1] + effects[None, :, None]


def p_values(samples):
    """Adjusted by Holm's method and by the joint test, of [study, arm, seed]."""
    arms, seeds = samples.shape[1:]
    signs = 1 - 2 * (numpy.arange(2 ** (seeds - 1))[:, None] >> numpy.arange(seeds) & 1)  # opposite patterns have the same |sum|
    sizes = numpy.sqrt((samples**2).sum(2))
    statistics = abs(samples @ signs.T) / numpy.where(sizes > 0, sizes, 1)[:, :, None]
    limits = statistics[:, :, 0] - 1e-11
    alone = (statistics >= limits[:, :, None]).mean(2)
    order = numpy.argsort(alone, axis=1, kind="stable")
    steps = numpy.take_along_axis(alone, order, 1) * (arms - numpy.arange(arms))
    holm = numpy.empty_like(steps)
    numpy.put_along_axis(holm, order, numpy.maximum.accumulate(numpy.minimum(1, steps), axis=1), 1)
    order = numpy.argsort(-limits, axis=1, kind="stable")
    sorted_statistics = numpy.take_along_axis(statistics, order[:, :, None], 1)
    rest = numpy.maximum.accumulate(sorted_statistics[:, ::-1], axis=1)[:, ::-1]  # the largest from this step on
    steps = (rest >= numpy.take_along_axis(limits, order, 1)[:, :, None]).mean(2)
    joint = numpy.empty_like(steps)
    numpy.put_along_axis(joint, order, numpy.maximum.accumulate(steps, axis=1), 1)
    return holm, joint


def claimed(p, effect):
    """Of true hypotheses the share of studies that claim any, else the share of the arms with the effect."""
    true = max(1, p.shape[1] // 2)
    return (p <= LEVEL).any(1).mean() if effect == 0 else (p[:, :true] <= LEVEL).mean()


def calibrated(options):
    """Rows of effect, noise, arms, seeds, and the rates by Holm's method and the joint test."""
    for effect, kind, arms, seeds in itertools.product((0, 4, 2), NOISES, ARMS, SEEDS):
        p = p_values(differences(kind, arms, seeds, options.studies, effect, options.seed))
        yield [effect, kind, arms, seeds, *(round(float(claimed(one, effect)), 3) for one in p)]


def differing_rows(rows):
    """Rows of the page's table, of the joint test with one arm and with eight, that differ from the file."""
    section = PAGE.read_text().split("### The joint test, calibrated")[1].split("\n## ")[0]
    tables = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()]
    shown = [cells for cells in tables if cells[0] in NOISES]
    assert len(shown) == len(NOISES), "the page has every noise"
    rates = {(kind, arms): [row[5] for row in rows if row[:3] == [0, kind, arms]] for kind in NOISES for arms in (1, 8)}
    ranges = {key: f"{min(found):.3f} to {max(found):.3f}" for key, found in rates.items()}
    return [cells for cells in shown if cells[1:] != [ranges[cells[0], arms] for arms in (1, 8)]]


def ask(program, samples):
    questions = "".join(json.dumps({"what": "joint", "samples": study.tolist()}) + "\n" for study in samples)
    lines = subprocess.run([program], input=questions, capture_output=True, text=True, check=True).stdout.splitlines()
    answers = [json.loads(line) for line in lines]
    return tuple(numpy.array([answer[name] for answer in answers]) for name in ("holm", "both"))


def check(options):
    wrong, studies = 0, 200
    rows = json.loads(FILE.read_text())
    for effect, kind, arms, seeds, *rates in rows:
        samples = differences(kind, arms, seeds, studies, effect, options.seed + 1)
        for name, ours, theirs, rate in zip(("Holm", "joint"), ask(options.program, samples), p_values(samples), rates, strict=True):
            found = claimed(ours, effect)
            middle = (rate * options.studies + found * studies) / (options.studies + studies)
            noise = 4.5 * (middle * (1 - middle) * (1 / options.studies + 1 / studies)) ** 0.5 + 0.001
            if abs(ours - theirs).max() > 1e-9 or abs(found - rate) > noise:
                wrong += 1
                print(f"{name}, {kind}, {arms} arms, {seeds} seeds, effect {effect}: {found:.3f}, the page has {rate:.3f}; "
                      f"p differ by {abs(ours - theirs).max():.2g}")
    for cells in differing_rows(rows):
        wrong += 1
        print(f"docs/statistics.md: {cells} differs from calibration.json")
    print(f"{2 * len(rows)} rates compared, {wrong} differ")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program", nargs="?")
    parser.add_argument("--studies", type=int, default=4000, help="of each row (default 4000)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.program:
        return check(options)
    FILE.write_text("[\n" + ",\n".join(map(json.dumps, calibrated(options))) + "\n]\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
