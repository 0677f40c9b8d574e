"""docs/atlas.svg: the effects found here, with their intervals, beside the published ones."""

import html
import math

import claims

TITLE = "Effects found here beside the published ones"
COLOURS = {claims.AGREES: "#1a7f37", claims.OTHER_SIGN: "#cf222e", claims.BEYOND: "#bc4c00", claims.NO_EFFECT: "#8250df", claims.UNDECIDED: "#6e7781",
           claims.NOT_LEARNED: "#9a6700", claims.OUTSIDE: "#0969da", claims.WITHDRAWN: "#bf3989"}
ROW, LEFT, WIDTH, RIGHT, TOP = 22, 470, 480, 30, 64
TICKS = (-100, -30, -10, -3, -1, 0, 1, 3, 10, 30, 100)
LARGEST = 200


def place(effect):
    """The coordinate of an effect in hundredths: linear around 0, logarithmic far away."""
    kept = max(-LARGEST, min(LARGEST, effect))
    share = math.asinh(kept) / math.asinh(LARGEST)
    return LEFT + WIDTH * (share + 1) / 2


def text(x, y, words, anchor="start", size=12, colour="#1f2328"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">'
            f"{html.escape(words)}</text>")


def shortened(words, most=72):
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def mark(claim, y):
    colour = COLOURS[claim.first]
    finding = claim.finding(claim.record)
    scale = 100 if finding.metric in claims.SHARES else 1
    mean, *interval = (scale * value for value in finding.effect)
    low, high = interval or (mean, mean)
    shapes = [text(LEFT - 10, y + 4, shortened(claim.says), "end"),
              f'<line x1="{place(low):.1f}" y1="{y}" x2="{place(high):.1f}" y2="{y}" stroke="{colour}" stroke-width="3"/>',
              f'<circle cx="{place(mean):.1f}" cy="{y}" r="4.5" fill="{colour}"/>']
    if claim.is_of_same_metric(finding):
        x = place(scale * claim.published_effect)
        shapes.append(f'<path d="M{x:.1f} {y - 6}l6 6l-6 6l-6 -6z" fill="none" stroke="#1f2328" stroke-width="1.5"/>')
    return shapes


def axis(bottom):
    lines = []
    for tick in TICKS:
        x = place(tick)
        lines.append(f'<line x1="{x:.1f}" y1="{TOP - 14}" x2="{x:.1f}" y2="{bottom}" stroke="{"#8c959f" if tick == 0 else "#d8dee4"}"/>')
        lines.append(text(x, TOP - 20, f"{tick:+d}" if tick else "0", "middle", 11, "#57606a"))
    return lines


def legend(y):
    shapes, x = [], LEFT - 250
    for word, colour in COLOURS.items():
        shapes += [f'<circle cx="{x}" cy="{y}" r="4.5" fill="{colour}"/>', text(x + 9, y + 4, word, size=11)]
        x += 24 + 6.5 * len(word)
    shapes.append(f'<path d="M{x:.1f} {y - 6}l6 6l-6 6l-6 -6z" fill="none" stroke="#1f2328" stroke-width="1.5"/>')
    return [*shapes, text(x + 11, y + 4, "published, of the same metric", size=11)]


def shown(found):
    """Claims with an effect, by metric: those of different metrics have no common scale."""
    order = list(claims.OUTCOMES)
    some = [claim for claim in found if claim.finding(claim.record) and claim.finding(claim.record).effect]
    return sorted(some, key=lambda claim: (claim.finding(claim.record).metric, order.index(claim.first)))


def svg_of(found):
    """The picture, one block for each metric, claims sorted by outcome."""
    y, shapes, metric = TOP, [], None
    for claim in shown(found):
        if claim.finding(claim.record).metric != metric:
            metric = claim.finding(claim.record).metric
            unit = "per cent of " if metric in claims.LOSSES else "hundredths of " if metric in claims.SHARES else ""
            shapes.append(text(10, y + ROW // 2 + 4, unit + claims.metric_text(metric), size=12, colour="#57606a"))
            y += ROW
        shapes += mark(claim, y + ROW // 2)
        y += ROW
    width, height = LEFT + WIDTH + RIGHT, y + 40
    head = [text(10, 22, f"{TITLE}: by how much the arm is better than the baseline", size=14), *axis(y)]
    body = "\n".join(head + shapes + legend(y + 20))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="Helvetica, Arial, sans-serif"><title>{TITLE}</title>\n<rect width="{width}" height="{height}" fill="#fff"/>\n'
            f"{body}\n</svg>\n")
