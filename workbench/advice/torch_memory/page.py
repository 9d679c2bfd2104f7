"""An advice as one HTML page that needs nothing else, and as what a notebook shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from workbench.advice.torch_memory.answer import five_lines
from workbench.advice.torch_memory.diagnosis import Curve
from workbench.advice.torch_memory.growth import growing_curves, growth_sentence, step_sentence
from workbench.advice.torch_memory.holdings import UNKNOWN_SITE, Frame, SegmentMap, by_stack
from workbench.advice.torch_memory.sentences import sentences_of
from workbench.advice.torch_memory.timeline import columns_of, timeline_of
from workbench.advice.torch_memory.timeline_chart import COLOURS, KEYS, REQUEST, SWATCH, timeline_chart
from workbench.advice.torch_memory.trial import Trial, assignment
from workbench.number_text import bytes_said, to_decimals
from workbench.palette import css, notebook_css, page_css

if TYPE_CHECKING:
    from workbench.advice.torch_memory.diagnosis import Diagnosis

WIDTH, HEIGHT = 960, 280
POINTS = 1200
"""Points of a curve at most: of each stretch of events the highest."""
MOST_SEGMENTS, ROW = 400, 14
MOST_ROWS = 80
LINES = ("quiet", "series2", "series4")
_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:1000px;padding:0 1rem}
body{color:var(--wb-ink);background:var(--wb-paper)}
code{background:var(--wb-raised);padding:.1em .3em;border-radius:3px}table{border-collapse:collapse;font-size:13px}
td,th{padding:.2em .6em;border-bottom:1px solid var(--wb-grid);text-align:right}
td:first-child,th:first-child{text-align:left}
.answer{border-left:4px solid var(--wb-better);padding:.1rem 1rem;background:var(--wb-raised)}.answer p{margin:.35rem 0}
button{font:inherit;font-size:12px;padding:.05em .6em}
svg{max-width:100%;height:auto}
svg text{font:11px system-ui,sans-serif;fill:var(--wb-ink)}.over rect:hover{stroke:var(--wb-ink)}
"""


def page_of(advice: Diagnosis) -> str:
    """Return the whole page: the answer, the curves, the map, who holds what, then all that it rests on."""
    name = escape(advice.path.rsplit("/", 1)[-1])
    card = advice.cards[0]
    pinned = [(pin.site, pin.pinned_bytes, pin.blocks) for pin in advice.pins()[:20]]
    parts = [
        f"<h1>{name}</h1>",
        answer_of(advice),
        f"{_failed(advice)}<h2>{card.name}: live blocks over events, by stack</h2>{_timeline(advice)}",
        *_growing(advice),
        f"<h2>{card.name}: bytes over events</h2>{curve_chart(advice.curves(), marks_of(advice))}",
        f"<h2>{card.name}: segments after event {card.decisive:,}</h2>{segment_chart(advice.segments)}",
        f"<h2>Who holds what then</h2>{_flame(advice)}",
        _groups("The lines that hold most", "asked for by", advice.holders()[:20]),
        _groups("Sizes", "size of block", advice.sizes()),
        _groups("What pins free memory", "live blocks of", pinned),
        "<h2>All that came out</h2>",
        _rest(advice),
        f"<h2>Settings</h2>{settings_table(advice.trials[:MOST_ROWS], advice.variable)}",
    ]
    head = f"<meta charset='utf-8'><title>{name}</title><style>{page_css()}{_STYLE}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(parts)}</body></html>\n"


def notebook_of(advice: Diagnosis) -> str:
    """Return the page of a notebook: the answer, the curves, the holders, the ten best settings."""
    table = settings_table(advice.trials[:10], advice.variable)
    parts = (answer_of(advice), curve_chart(advice.curves()), _flame(advice), table)
    return f"<div><style>{notebook_css()}</style>{''.join(parts)}</div>"


def rest_of(advice: Diagnosis) -> str:
    """Return the page below the answer and the recording: the holders, all sentences, the best settings."""
    return f"{_flame(advice)}{_rest(advice)}{settings_table(advice.trials[:10], advice.variable)}"


def _failed(advice: Diagnosis) -> str:
    """Return the request that failed, and the memory that was left on the card then."""
    card = advice.cards[0]
    if card.failure is None:
        return ""
    left = card.failure.driver_free_bytes
    rows = [
        ("failed at event", f"{card.failure.event + 1:,} of {card.events:,}"),
        ("requested", bytes_said(card.failure.asked_bytes)),
        *([("requested by", site)] if (site := _site_of(advice)) else []),
        ("left on the card", bytes_said(left) if left >= 0 else "not recorded"),
        ("reserved", bytes_said(card.failure.reserved_bytes)),
    ]
    cells = "".join(f"<tr><td>{name}</td><td>{escape(text)}</td></tr>" for name, text in rows)
    return f"<h2>{card.name}: the request that failed</h2><table>{cells}</table>"


def _site_of(advice: Diagnosis) -> str | None:
    """Return the line whose request failed, if a stack was recorded."""
    failure = advice.cards[0].failure
    return None if failure is None or failure.site == UNKNOWN_SITE else failure.site


def _timeline(advice: Diagnosis) -> str:
    card = advice.cards[0]
    return timeline_chart(timeline_of(card), columns_of(advice.segments, card.failure), card.failure, _site_of(advice))


def _growing(advice: Diagnosis) -> list[str]:
    """Return a curve of each line that grows from step to step, if any does."""
    card = advice.cards[0]
    if card.growth is None:
        return []
    curves = [Curve(*it) for it in growing_curves(card.lives, card.log, card.growth, POINTS)][: len(COLOURS)]
    words = f"{growth_sentence(card.growth, card.replay.recording.is_whole)} {step_sentence(card.growth)}"
    chart = curve_chart(curves, marks_of(advice)._replace(room_bytes=None), COLOURS)
    return [f"<h2>{card.name}: what grows from step to step</h2><p>{escape(words)}</p>{chart}"]


def _flame(advice: Diagnosis) -> str:
    card = advice.cards[0]
    return flame_chart(by_stack(card.moment(card.decisive), card.log))


def _rest(advice: Diagnosis) -> str:
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences_of(advice)[len(five_lines(advice)) :])


def answer_of(advice: Diagnosis) -> str:
    """Return the five lines, and a button that copies what is to be set."""
    conf = assignment(advice.variable, advice.best) if advice.is_change and advice.best else ""
    lines = [escape(line) for line in five_lines(advice)]
    if conf:
        button = f"<button type='button' data-copy='{escape(conf)}' onclick='{_COPY}'>copy</button>"
        marked = f"<code>{escape(conf)}</code> {button}"
        lines = [line.replace(escape(conf), marked, 1) if line.startswith("Before Python") else line for line in lines]
    return f"<div class='answer'>{''.join(f'<p>{line}</p>' for line in lines)}</div>"


_COPY = escape(
    "const t=this.dataset.copy,b=this,done=()=>{b.textContent='copied'};"
    "if(navigator.clipboard){navigator.clipboard.writeText(t).then(done)}else{"
    "const a=document.createElement('textarea');a.value=t;document.body.append(a);a.select();"
    "document.execCommand('copy');a.remove();done()}",
)
"""What the button does; without the browser's clipboard, which pages from afar have not, by a field's selection."""
FLAME_ROW, THINNEST = 18, 1.0
"""Pixels of a frame's height; a frame that would be thinner is left out."""


def flame_chart(whole: Frame) -> str:
    """Return frames below those that called them, as wide as what is live below them; a frame says its bytes."""
    total = max(whole.bytes, 1)
    rects: list[str] = []
    deepest = _flames(whole, 0.0, 0, WIDTH / total, rects)
    head = f"viewBox='0 0 {WIDTH} {(deepest + 1) * FLAME_ROW}' role='img' aria-label='flame graph of live memory'"
    return f"<svg class='over' {head}>{''.join(rects)}</svg>"


def _flames(frame: Frame, x: float, depth: int, scale: float, rects: list[str]) -> int:
    """Draw a frame and those that it called; return how deep they go."""
    width, y = frame.bytes * scale, depth * FLAME_ROW
    colour = COLOURS[crc32(frame.name.encode()) % len(COLOURS)] if depth else "taken"
    words = f"{frame.name} {bytes_said(frame.bytes)}"
    fitting = words if 6.6 * len(words) < width else words[: max(int(width / 6.6) - 1, 0)]
    label = f"<text x='{x + 3:.1f}' y='{y + 13}'>{escape(fitting)}</text>" if len(fitting) > 3 else ""
    rects.append(
        f"<rect x='{x:.1f}' y='{y}' width='{width:.1f}' height='{FLAME_ROW - 1}' fill='{css(colour)}' "
        f"fill-opacity='.25' stroke='{css(colour)}'>"
        f"<title>{escape(words)}</title></rect>{label}"
    )
    deepest = depth
    for inner in frame.inner:
        if inner.bytes * scale >= THINNEST:
            deepest = max(deepest, _flames(inner, x, depth + 1, scale, rects))
        x += inner.bytes * scale
    return deepest


def highest(values: np.ndarray, points: int = POINTS) -> np.ndarray:
    """Return the highest value of each of so many stretches: float64[points] or all of them.

    >>> highest(np.array([1, 5, 2, 4]), 2).tolist()
    [5, 4]
    """
    if len(values) <= points:
        return values
    edges = np.linspace(0, len(values), points + 1).astype(int)[:-1]
    result: np.ndarray = np.maximum.reduceat(values, edges)
    return result


class Marks(NamedTuple):
    """What curves have drawn into them."""

    failed: float | None = None
    """Where among the events a request failed, as a share of all."""
    room_bytes: int | None = None
    """What the allocator could have had at most."""


NO_MARKS = Marks()


def marks_of(advice: Diagnosis) -> Marks:
    """Return the event that failed on the first card, and the memory that it had."""
    card = advice.cards[0]
    if card.failure is None:
        return NO_MARKS
    return Marks((card.failure.event + 1) / max(card.events, 1), card.failure.room_bytes)


def curve_chart(curves: list[Curve], marks: Marks = NO_MARKS, colours: Sequence[str] = LINES) -> str:
    """Return the curves as SVG, steps from event to event; a line says its figures when it is pointed at."""
    top = max([*(int(curve.bytes.max(initial=0)) for curve in curves), marks.room_bytes or 0, 1])
    lines = [_line(curve, top, colour) for curve, colour in zip(curves, colours, strict=False)]
    grid = [_level(top * k // 4, top) for k in range(5)]
    legend = (_key(curve.name, colour) for curve, colour in zip(curves, colours, strict=False))
    drawn = "".join([*grid, *lines, *_marked(marks, top)])
    chart = f"<svg viewBox='0 0 {WIDTH} {HEIGHT}' role='img' aria-label='memory by event'>{drawn}</svg>"
    return f"{chart}<ul style='{KEYS}'>{''.join(legend)}</ul>"


def _marked(marks: Marks, top: int) -> Iterator[str]:
    """Yield the event that failed as an upright line, and the end of the card as a level one."""
    look = f"stroke='{css(REQUEST)}' stroke-dasharray='4 3'"
    if marks.failed is not None:
        x = 70 + (WIDTH - 70) * marks.failed
        yield f"<line x1='{x:.1f}' x2='{x:.1f}' y1='10' y2='{HEIGHT - 6}' {look}><title>failed here</title></line>"
        yield f"<text x='{x - 4:.1f}' y='{HEIGHT - 12}' text-anchor='end'>failed</text>"
    if marks.room_bytes is not None:
        y, words = _height(marks.room_bytes, top), f"the card had {bytes_said(marks.room_bytes)}"
        yield f"<line x1='70' x2='{WIDTH}' y1='{y:.1f}' y2='{y:.1f}' {look}><title>{words}</title></line>"
        yield f"<text x='76' y='{y + 13:.1f}'>{words}</text>"


def _key(name: str, colour: str) -> str:
    """Return a line of the legend, whole, on as many lines as it takes; commas are where it may break."""
    words = escape(name).replace(",", ",<wbr>")
    return f"<li><span style='{SWATCH};background:{css(colour)}'></span>{words}</li>"


def _line(curve: Curve, top: int, colour: str) -> str:
    values = highest(curve.bytes)
    step = (WIDTH - 70) / max(len(values), 1)
    edges = [(70 + (k + side) * step, _height(int(it), top)) for k, it in enumerate(values.tolist()) for side in (0, 1)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in edges)
    title = f"{curve.name}: {bytes_said(int(curve.bytes.max(initial=0)))} at most"
    return (
        f"<polyline points='{points}' fill='none' stroke='{css(colour)}' stroke-width='1.5'>"
        f"<title>{escape(title)}</title></polyline>"
    )


def _height(value: int, top: int) -> float:
    return HEIGHT - 6 - (HEIGHT - 16) * value / top


def _level(value: int, top: int) -> str:
    y = _height(value, top)
    return (
        f"<line x1='70' x2='{WIDTH}' y1='{y:.1f}' y2='{y:.1f}' stroke='{css('grid')}'/>"
        f"<text x='64' y='{y + 4:.1f}' text-anchor='end'>{bytes_said(value)}</text>"
    )


def segment_chart(segments: list[SegmentMap]) -> str:
    """Return the largest segments as rows of blocks, colored by who asked; a block says what it is when pointed at."""
    largest = sorted(segments, key=lambda it: -it.size)[:MOST_SEGMENTS]
    sites = sorted({block.site for segment in largest for block in segment.blocks})
    colours = {site: COLOURS[k % len(COLOURS)] for k, site in enumerate(sites)}
    rows, x, y = [], 0.0, 0
    scale = max(sum(it.size for it in largest) / (40 * WIDTH), 1)
    for segment in largest:
        width = min(max(segment.size / scale, 2), WIDTH)
        if x + width > WIDTH:
            x, y = 0, y + ROW + 3
        rows.append(_segment(segment, x, y, width, colours))
        x += width + 2
    left = (
        f"<p>{len(segments) - len(largest):,} smaller segments are not drawn.</p>"
        if len(segments) > len(largest)
        else ""
    )
    head = f"viewBox='0 0 {WIDTH} {y + ROW + 2}' role='img' aria-label='blocks of the largest segments'"
    return f"<svg class='over' {head}>{''.join(rows)}</svg>{left}"


def _segment(segment: SegmentMap, x: float, y: int, width: float, colours: dict[str, str]) -> str:
    title = f"segment of {bytes_said(segment.size)}, {bytes_said(segment.free)} free"
    place = f"x='{x:.1f}' y='{y}' width='{width:.1f}' height='{ROW}'"
    back = f"<rect {place} fill='{css('free')}'><title>{title}</title></rect>"
    return back + "".join(
        f"<rect x='{x + width * (block.address - segment.address) / segment.size:.1f}' y='{y}' "
        f"width='{max(width * block.size / segment.size, 0.4):.1f}' height='{ROW}' fill='{css(colours[block.site])}'>"
        f"<title>{escape(f'{bytes_said(block.size)}: {block.site}')}</title></rect>"
        for block in segment.blocks
    )


def settings_table(trials: list[Trial], variable: str) -> str:
    """Return the settings as a table, the best first."""
    names = (variable, "reserved peak", "driver calls", "their cost", "smallest card")
    head = "".join(f"<th>{name}</th>" for name in names)
    return f"<table><tr>{head}</tr>{''.join(map(_row, trials))}</table>"


def _row(trial: Trial) -> str:
    first = trial.cards[0]
    card = "-" if first.smallest_card_bytes is None else bytes_said(first.smallest_card_bytes)
    conf = escape(trial.conf or "(defaults)")
    cost = f"{to_decimals(first.driver_ns / 1e6, 1)} ms"
    cells = (f"<code>{conf}</code>", bytes_said(first.reserved_peak_bytes), f"{first.driver_calls:,}", cost, card)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _groups(title: str, first: str, rows: Sequence[tuple[str, int, int]]) -> str:
    """Return groups of blocks as a table under a title: name, bytes, count."""
    cells = (
        f"<tr><td>{escape(name)}</td><td>{bytes_said(size)}</td><td>{count:,}</td></tr>" for name, size, count in rows
    )
    head = f"<tr><th>{first}</th><th>bytes</th><th>blocks</th></tr>"
    return f"<h2>{title}</h2><table>{head}{''.join(cells)}</table>"
