# SPDX-License-Identifier: Apache-2.0
"""Draws docs/detection.svg: the share of races found over the number of runs, a line for each schedule. Plain SVG."""

WIDTH, HEIGHT = 776, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 206, 52, 56
# Told apart by colour, dashes and marks, each alone.
STYLES = (("a", "", "circle"), ("b", "7 4", "square"), ("c", "2 4", "diamond"), ("d", "", "triangle"), ("e", "9 3 2 3", "down"))
STYLE = """
  text { font: 13px system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-size: 15px; font-weight: 600 }
  .small { font-size: 12px; fill: #59636e }
  .paper { fill: #ffffff }
  .grid { stroke: #d9dee4; stroke-width: 1 }
  .axis { stroke: #59636e; stroke-width: 1.2 }
  .line { fill: none; stroke-width: 2.2; stroke-linejoin: round }
  .a { stroke: #6e7781; } .b { stroke: #bc6c00 } .c { stroke: #0969da } .d { stroke: #1a7f37 } .e { stroke: #8250df }
  .ma { fill: #6e7781 } .mb { fill: #bc6c00 } .mc { fill: #0969da } .md { fill: #1a7f37 } .me { fill: #8250df }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #9198a1 } .paper { fill: #0d1117 } .grid { stroke: #2a313a } .axis { stroke: #9198a1 }
    .a { stroke: #9198a1 } .b { stroke: #f0a03c } .c { stroke: #58a6ff } .d { stroke: #3fb950 } .e { stroke: #bc8cff }
    .ma { fill: #9198a1 } .mb { fill: #f0a03c } .mc { fill: #58a6ff } .md { fill: #3fb950 } .me { fill: #bc8cff }
  }
"""


def marker(kind, x, y, css):
    if kind == "circle":
        return f'<circle class="{css}" cx="{x:.1f}" cy="{y:.1f}" r="3.6"/>'
    points = {"square": ((-3.3, -3.3), (3.3, -3.3), (3.3, 3.3), (-3.3, 3.3)), "diamond": ((0, -4.8), (4.8, 0), (0, 4.8), (-4.8, 0)),
              "triangle": ((0, -4.8), (4.5, 3.4), (-4.5, 3.4)), "down": ((0, 4.8), (4.5, -3.4), (-4.5, -3.4))}[kind]
    return f'<polygon class="{css}" points="{" ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in points)}"/>'


def floor_of(curves):
    """Where the axis starts: a multiple of ten below everything, for what is near 100 % is to be told apart."""
    return max(0, int(10 * min(min(c) for c in curves.values())) * 10 - 10)


def label_places(ends):
    """Where the labels at the lines' ends stand: near them, but not on each other."""
    places = {}
    last = None
    for name, y in sorted(ends.items(), key=lambda item: item[1]):
        last = y if last is None else max(y, last + 34)
        places[name] = last
    return places


def svg(curves, races):
    """curves: schedule -> the share found within 1, 2, ... runs."""
    runs = max(map(len, curves.values()))
    floor = floor_of(curves)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    at_x = lambda k: LEFT + (right - LEFT) * (k - 1) / max(1, runs - 1)
    at_y = lambda share: bottom - (bottom - TOP) * (100 * share - floor) / (100 - floor)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
           f'aria-label="Share of the findable races found, by the number of runs and the schedule">',
           f"<style>{STYLE}</style>", f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
           f'<text class="title" x="{LEFT}" y="26">The {races} races of the corpus that a watchpoint can find</text>']
    for percent in range(floor, 101, 10):
        y = at_y(percent / 100)
        out.append(f'<line class="{"axis" if percent == floor else "grid"}" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text class="small" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>')
    for k in range(1, runs + 1):
        if k in (1, 2, 3, 5) or k % 5 == 0:
            out.append(f'<line class="axis" x1="{at_x(k):.1f}" x2="{at_x(k):.1f}" y1="{bottom}" y2="{bottom + 5}"/>')
            out.append(f'<text class="small" x="{at_x(k):.1f}" y="{bottom + 20}" text-anchor="middle">{k}</text>')
    out.append(f'<text x="{(LEFT + right) / 2:.1f}" y="{HEIGHT - 14}" text-anchor="middle">runs, each with another seed</text>')
    out.append(f'<text transform="translate(18 {(TOP + bottom) / 2:.1f}) rotate(-90)" text-anchor="middle">share found at least once</text>')
    places = label_places({name: at_y(c[-1]) for name, c in curves.items()})
    for (name, curve), (css, dash, mark) in zip(curves.items(), STYLES):
        points = [(at_x(k), at_y(share)) for k, share in enumerate(curve, 1)]
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        out.append(f'<polyline class="line {css}"{dashes} points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>')
        out += [marker(mark, x, y, "m" + css) for x, y in points]
        y = places[name]
        out.append(f'<line class="line {css}"{dashes} x1="{right + 14}" x2="{right + 40}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(marker(mark, right + 27, y, "m" + css))
        out.append(f'<text x="{right + 47}" y="{y + 1:.1f}">{name}</text>')
        fifth = f", {100 * curve[4]:.1f} % in 5" if len(curve) >= 5 else ""
        out.append(f'<text class="small" x="{right + 47}" y="{y + 15:.1f}">{100 * curve[0]:.1f} % in 1{fifth}</text>')
    return "\n".join(out) + "\n</svg>\n"
