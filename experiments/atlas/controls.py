"""What the controls of the recorded studies show: baselines that were trained again, with other random numbers alone."""

import math

import claims


def alarms_of(record):
    """Of each tested control, whether it is shown to differ from its baseline, which is a false alarm."""
    found = [arm["contrast"]["verdict"] for task in record["tasks"].values() for arm in task["arms"].values() if arm.get("control") and "contrast" in arm]
    return [verdict in ("better", "worse") for verdict in found if verdict in claims.TESTED]


def interval(alarms, controls):
    """The 95 % interval of the rate of alarms (Clopper and Pearson 1934)."""
    def probability(counts, rate):
        return sum(math.comb(controls, k) * rate**k * (1 - rate) ** (controls - k) for k in counts)

    low = high = 0.0
    for step in (2.0**-n for n in range(1, 50)):
        low += step * (probability(range(alarms, controls + 1), low + step) < 0.025)
        high += step * (probability(range(alarms + 1), high + step) > 0.025)
    return low, high


def text_of(records):
    found = [alarm for record in records for alarm in alarms_of(record)]
    if not found:
        return "No control has been recorded yet: a baseline with other random numbers, which differs from the other one by chance alone."
    low, high = (f"{100 * end:.1f}" for end in interval(sum(found), len(found)))
    return (f"Of {len(found)} controls, baselines with other random numbers, {sum(found)} {'is' if sum(found) == 1 else 'are'} shown to differ: false "
            f"alarms, whose rate is between {low} and {high} % (95 % Clopper-Pearson interval).")
