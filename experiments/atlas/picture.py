"""docs/atlas.svg: the effects found here, with their intervals, beside the published ones."""

import html
import math

import claims

TITLE = "Effects found here beside the published ones"
COLOURS = {"reproduced": "#1a7f37", "reversed": "#cf222e", "equivalent": "#0969da", "not distinguishable": "#6e7781",
           "not learned": "#9a6700"}
ROW, LEFT, WIDTH, RIGHT, TOP = 22, 470, 480, 30, 64
TICKS = (-100, -30, -10, -3, -1, 0, 1, 3, 10, 30, 100)
LARGEST = 200


def place(effect):
    """The coordinate of an effect in per cent: linear around 0, logarithmic far away."""
    kept = max(-LARGEST, min(LARGEST, effect))
    share = math.asinh(kept) / math.asinh(LARGEST)
    return LEFT + WIDTH * (share + 1) / 2


def text(x, y, words, anchor="start", size=12, colour="#1f2328"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">'
            f"{html.escape(words)}</text>")


def shortened(words, most=72):
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def mark(claim, y):
    finding = claim.finding(claim.record)
    colour = COLOURS[claim.verdict(claim.record)]
    mean, *interval = finding.effect
    low, high = sorted(interval) if interval else (mean, mean)
    shapes = [text(LEFT - 10, y + 4, shortened(claim.claim), "end"),
              f'<line x1="{place(low):.1f}" y1="{y}" x2="{place(high):.1f}" y2="{y}" stroke="{colour}" stroke-width="3"/>',
              f'<circle cx="{place(mean):.1f}" cy="{y}" r="4.5" fill="{colour}"/>']
    if claim.published_effect is not None:
        x = place(claim.published_effect)
        shapes.append(f'<path d="M{x:.1f} {y - 6}l6 6l-6 6l-6 -6z" fill="none" stroke="#1f2328" stroke-width="1.5"/>')
    return shapes


def axis(bottom):
    lines = []
    for tick in TICKS:
        x = place(tick)
        lines.append(f'<line x1="{x:.1f}" y1="{TOP - 14}" x2="{x:.1f}" y2="{bottom}" stroke="{"#8c959f" if tick == 0 else "#d8dee4"}"/>')
        lines.append(text(x, TOP - 20, f"{tick:+d} %" if tick else "0", "middle", 11, "#57606a"))
    return lines


def legend(y):
    shapes, x = [], LEFT - 150
    for word, colour in COLOURS.items():
        shapes += [f'<circle cx="{x}" cy="{y}" r="4.5" fill="{colour}"/>', text(x + 9, y + 4, word, size=11)]
        x += 24 + 6.5 * len(word)
    shapes.append(f'<path d="M{x:.1f} {y - 6}l6 6l-6 6l-6 -6z" fill="none" stroke="#1f2328" stroke-width="1.5"/>')
    return [*shapes, text(x + 11, y + 4, "published", size=11)]


def svg_of(found):
    """The picture, claims sorted by verdict."""
    order = list(claims.VERDICTS)
    shown = sorted((claim for claim in found if claim.record), key=lambda claim: order.index(claim.verdict(claim.record)))
    bottom = TOP + ROW * len(shown)
    width, height = LEFT + WIDTH + RIGHT, bottom + 40
    shapes = [text(10, 22, f"{TITLE}: per cent of the baseline by which the arm is better", size=14), *axis(bottom)]
    for row, claim in enumerate(shown):
        shapes += mark(claim, TOP + ROW * row + ROW // 2)
    shapes += legend(bottom + 20)
    body = "\n".join(shapes)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="Helvetica, Arial, sans-serif"><title>{TITLE}</title>\n<rect width="{width}" height="{height}" fill="#fff"/>\n'
            f"{body}\n</svg>\n")
