"""How often the rule of collapsed seeds flags runs that did not collapse: collapse_rates.py [--samples 100000]"""

import argparse

import numpy

SCORE, LOSS = (4, 0.25, 0.05), (8, 0.1, 0)  # gap in ranges of the good runs, and parts of their median and of the metric's range
FEWEST = 3
KINDS = {
    "normal": lambda draw, shape: draw.normal(0, 1, shape),
    "heavy tails (t, 3)": lambda draw, shape: draw.standard_t(3, shape),
    "uniform": lambda draw, shape: draw.random(shape),
    "skewed to the worse (exponential)": lambda draw, shape: -draw.exponential(1, shape),
    "skewed to the better": lambda draw, shape: draw.exponential(1, shape),
}


def collapsed(values, higher_is_better, bounds):
    """The places of collapsed runs; bounds are None or the ends of the metric's range."""
    finite = [value for value in values if numpy.isfinite(value)]
    ordered = sorted(finite, reverse=higher_is_better)
    good = len(ordered)
    for count in range(max(FEWEST, -(-len(values) // 2)), len(ordered)):
        gap = abs(ordered[count - 1] - ordered[count])
        ranges, of_median, of_range = SCORE if bounds else LOSS
        floor = max(of_median * abs(numpy.median(ordered[:count])), of_range * (bounds[1] - bounds[0]) if bounds else 0)
        if gap > max(ranges * abs(ordered[0] - ordered[count - 1]), floor):
            good = count
    kept = ordered[:good]
    return [place for place, value in enumerate(values) if finite and value not in kept]


def rate(kind, ranges, seeds, samples):
    """Without the floor, which spares more."""
    runs = -numpy.sort(-KINDS[kind](numpy.random.default_rng([1, seeds]), (samples, seeds)), axis=1)
    flagged = numpy.zeros(samples, bool)
    for count in range(max(FEWEST, -(-seeds // 2)), seeds):
        flagged |= runs[:, count - 1] - runs[:, count] > ranges * (runs[:, 0] - runs[:, count - 1])
    return flagged.mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--samples", type=int, default=100_000)
    samples = parser.parse_args().samples
    for ranges, *_ in (SCORE, LOSS):
        for kind in KINDS:
            print(f"| {ranges} ranges | {kind} | {' | '.join(f'{100 * rate(kind, ranges, seeds, samples):.2f}' for seeds in (5, 6, 7, 8, 10, 12))} |")


if __name__ == "__main__":
    main()
