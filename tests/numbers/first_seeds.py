"""What the atlas would claim from its first seeds: first_seeds.py [--seeds 6 7 8]

Holm's method and the joint test on the differences in docs/results/atlas/*.json, in the tasks in which every arm has all pairs.
"""

import argparse
import json
import pathlib

import numpy

from calibrate import LEVEL, p_values

ATLAS = pathlib.Path(__file__).parents[2] / "docs/results/atlas"


def families():
    for path in sorted(ATLAS.glob("*.json")):
        for task in json.loads(path.read_text()).get("tasks", {}).values():
            found = [arm["contrast"].get("differences") for arm in task["arms"].values() if arm.get("contrast")]
            found = [one for one in found if one and all(isinstance(value, (int, float)) for value in one)]
            if found and len({len(one) for one in found}) == 1:
                yield numpy.array(found), task["comparisons"]


def claims(differences, comparisons):
    """By each of both methods; a comparison without differences counts as p = 1 and changes only Holm's."""
    missing = numpy.zeros((max(0, comparisons - len(differences)), differences.shape[1]))
    p = p_values(numpy.vstack([differences, missing])[None])
    return [one[0, :len(differences)] <= LEVEL for one in p]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[6, 7, 8])
    for seeds in parser.parse_args().seeds:
        cases = [(one, comparisons) for one, comparisons in families() if one.shape[1] >= seeds]
        first = [claims(one[:, :seeds], comparisons) for one, comparisons in cases]
        every = [claims(one, comparisons) for one, comparisons in cases]
        (holm, joint), (all_holm, all_joint) = ([numpy.concatenate(one) for one in zip(*found)] for found in (first, every))
        print(f"{len(holm)} comparisons: the first {seeds} seeds claim {holm.sum()} by Holm, {joint.sum()} jointly; "
              f"all seeds {all_holm.sum()} and {all_joint.sum()}; {(joint & all_holm).sum()} of the {joint.sum()} are among the "
              f"{all_holm.sum()}, {(joint & all_joint).sum()} among the {all_joint.sum()}")


main()
