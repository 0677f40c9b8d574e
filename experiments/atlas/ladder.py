"""docs/ladder.svg: the effect of each change at each size of the ladder."""

import functools
import html
import math

import files

# Studies whose arms have the names of claims, besides the ladder itself.
LADDERS = ("frontier_ladder", "depth_ladder", "ahead_ladder", "decay_ladder", "muon_ladder", "independent_ladder", "capacity_ladder")
TITLE = "At which size does each effect show?"
COLOURS = ("#5b8fc9", "#2f6db3", "#08306b")  # from the smallest size to the largest
ROW, LEFT, WIDTH, RIGHT, TOP = 46, 150, 620, 210, 70
TICKS = (-0.3, -0.1, -0.03, -0.01, 0, 0.01, 0.03, 0.1, 0.3)
UNIT, LARGEST = 0.005, 0.4


def read_ladder(study="ladder"):
    """The ladder over sizes of a study's record; None if it has not been run."""
    record = files.read_record(study)
    return next(iter(record["ladders"]), None) if record else None


@functools.cache
def read_ladders():
    """The ladders that were run, by their studies."""
    return {study: sizes for study in ("ladder", *LADDERS) if (sizes := read_ladder(study))}


def gains(ladder, arm):
    """For each size the mean and the interval by which the arm is better, lowest end first."""
    sign = -1 if ladder["direction"] == "lower" else 1
    return [(sign * effect["mean"], *sorted(sign * end for end in effect.get("interval", [effect["mean"]] * 2))) for effect in arm["effects"]]


def arm_of(claim, ladder):
    """The ladder's arm for the claim's; None if it has none."""
    return next((arm for arm in ladder["arms"] if arm["name"] == (claim.ladder or claim.id) and arm["effects"]), None)


def compute(ladder, arm):
    """How many times the compute would lower the baseline's loss as much, at each size, by the line between two sizes of the baseline, which
    have 20 tokens a parameter, so that compute grows as their square; None for other metrics."""
    baseline = next(one for one in ladder["arms"] if one["name"] == arm["baseline"])
    if ladder["metric"] != "loss":
        return [None] * len(arm["effects"])
    points = [(2 * math.log(rung["x"]), score["mean"]) for rung, score in zip(ladder["rungs"], baseline["scores"], strict=True)]
    found = []
    for i, effect in enumerate(arm["effects"]):
        (x, loss), (next_x, next_loss) = points[max(i - 1, 0):][:2]
        found.append(math.exp(-effect["mean"] * (next_x - x) / (loss - next_loss)))
    return found


def place(gain):
    """The coordinate of a gain: linear around 0, logarithmic far away."""
    kept = max(-LARGEST, min(LARGEST, gain))
    return LEFT + WIDTH * (math.asinh(kept / UNIT) / math.asinh(LARGEST / UNIT) + 1) / 2


def words_of(found):
    """Where the effect shows, and whether its sign turns."""
    signs = {math.copysign(1, mean) for mean, low, high in found if low > 0 or high < 0}
    if not signs:
        return "at no size"
    if len(signs) == 2:
        return "its sign turns"
    shown = sum(low > 0 or high < 0 for _, low, high in found)
    return f"{'better' if 1 in signs else 'worse'} at {shown} of {len(found)} sizes"


def trend(ladder, arm):
    """How the gain changes with the logarithm of the size: rising or falling; empty if neither is shown."""
    interval = arm.get("slope", {}).get("interval")
    if not interval or interval[0] <= 0 <= interval[1]:
        return ""
    return "rising" if (interval[0] < 0) == (ladder["direction"] == "lower") else "falling"


def sizes_text(name, sizes):
    """The gains of the arm of this name at the sizes of a ladder, in bold where their interval leaves out zero; nothing if it has no such arm."""
    arm = next((arm for arm in sizes["arms"] if arm["name"] == name and arm["effects"]), None)
    if not arm:
        return ""
    numbers = ", ".join(f"**{mean:+.3f}**" if low > 0 or high < 0 else f"{mean:+.3f}" for mean, low, high in gains(sizes, arm))
    return numbers + (f" ({trend(sizes, arm)})" if trend(sizes, arm) else "")


def text(x, y, words, anchor="start", size=12, colour="#1f2328"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{html.escape(words)}</text>'


def marks(ladder, arm, top):
    found = gains(ladder, arm)
    shapes = [text(LEFT - 10, top + ROW / 2 + 4, arm["name"], "end")]
    for i, (mean, low, high) in enumerate(found):
        y, colour = top + ROW * (i + 1) / (len(found) + 1), COLOURS[i % len(COLOURS)]
        shapes += [f'<line x1="{place(low):.1f}" y1="{y:.1f}" x2="{place(high):.1f}" y2="{y:.1f}" stroke="{colour}" stroke-width="3"/>',
                   f'<circle cx="{place(mean):.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>']
    words = ", ".join(filter(None, [words_of(found), trend(ladder, arm)]))
    return [*shapes, text(LEFT + WIDTH + 10, top + ROW / 2 + 4, words)]


def axis(bottom):
    lines = []
    for tick in TICKS:
        x = place(tick)
        lines.append(f'<line x1="{x:.1f}" y1="{TOP - 10}" x2="{x:.1f}" y2="{bottom}" stroke="{"#8c959f" if tick == 0 else "#d8dee4"}"/>')
        lines.append(text(x, TOP - 16, f"{tick:+g}" if tick else "0", "middle", 11, "#57606a"))
    return lines


def size_of(rung):
    return f"{rung['label']}: {rung['x'] / 1000:,.0f} thousand parameters"


def legend(ladder, y):
    shapes = []
    for i, rung in enumerate(ladder["rungs"]):
        x = LEFT + 180 * i
        shapes += [f'<circle cx="{x}" cy="{y}" r="4" fill="{COLOURS[i % len(COLOURS)]}"/>', text(x + 9, y + 4, size_of(rung), size=11)]
    return shapes


def svg_of(ladder):
    """Rows by the gain at the largest size, the best first."""
    arms = sorted((arm for arm in ladder["arms"] if arm["effects"]), key=lambda arm: -gains(ladder, arm)[-1][0])
    bottom = TOP + ROW * len(arms)
    shapes = [text(10, 24, f"{TITLE} Gain in {ladder['metric']}, better to the right, with 95 % intervals", size=14), *axis(bottom)]
    for row, arm in enumerate(arms):
        shapes += marks(ladder, arm, TOP + ROW * row)
    body = "\n".join(shapes + legend(ladder, bottom + 22))
    width, height = LEFT + WIDTH + RIGHT, bottom + 40
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="Helvetica, Arial, sans-serif"><title>{html.escape(TITLE)}</title>\n<rect width="{width}" height="{height}" fill="#fff"/>\n'
            f"{body}\n</svg>\n")
