"""Look of the HTML report: light, dark, narrow and on paper."""

from __future__ import annotations

from grasp_core.charts.theme import FONT, PALETTES, Theme


def _colours(theme: Theme) -> str:
    palette = PALETTES[theme]
    card = {"light": "#F4F7F6", "dark": "#1B2426"}[theme]
    return (
        f"--background: {palette.background}; --ink: {palette.ink}; --muted: {palette.muted}; "
        f"--grid: {palette.grid}; --card: {card}; --corrected: {palette.text['corrected']}; "
        f"--nominal: {palette.text['nominal']}; color-scheme: {theme};"
    )


STYLE = f"""
:root {{ {_colours("light")} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_colours("dark")} }} }}
""" + (
    """
* { box-sizing: border-box; }
body { margin: 0; background: var(--background); color: var(--ink); font: 16px/1.5 FONT; }
main { max-width: 72rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.8rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p, li, dd, td, th { overflow-wrap: break-word; }
p, li, dd { max-width: 50rem; }
.muted, caption { color: var(--muted); }
.headline { font-size: 1.2rem; padding: .75rem 1rem; background: var(--card);
  border-left: 4px solid var(--corrected); }
a { color: var(--corrected); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; list-style: none; }
.scroll { position: relative; overflow-x: auto; margin: .75rem 0; }
.figure { background: #fff; border: 1px solid var(--grid); border-radius: 4px; }
.figure svg { display: block; width: 100%; min-width: 42rem; height: auto; font-family: FONT; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { text-align: left; padding-bottom: .4rem; }
th, td { padding: .3rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--grid); }
thead th { border-bottom: 2px solid var(--muted); vertical-align: bottom; }
tbody th { position: sticky; left: 0; min-width: 7rem; max-width: 20rem; background: var(--background);
  font-weight: normal; }
.number { text-align: right; }
td.number { white-space: nowrap; }
.corrected { color: var(--corrected); font-weight: 600; }
.nominal { color: var(--nominal); font-weight: 600; }
.hash { overflow-wrap: anywhere; min-width: 16rem; font-family: monospace; }
dt { font-weight: 600; margin-top: .75rem; }
dd { margin: 0; }
summary { cursor: pointer; color: var(--corrected); }
pre { background: var(--card); padding: 1rem; margin: .75rem 0; overflow-x: auto; font-size: .85rem; }
:focus-visible { outline: 2px solid var(--corrected); outline-offset: 2px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
@page { size: A4 landscape; margin: 14mm; }
@media print {
  details::details-content { content-visibility: visible; display: block; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  nav, summary { display: none; }
  h2, h3 { break-after: avoid; }
  .scroll, pre { overflow: visible; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  .figure { border: 0; break-inside: avoid; }
  .figure svg { min-width: 0; max-height: 135mm; }
  table { font-size: 8pt; }
  tbody th { position: static; }
  th, td { padding: .15rem .35rem; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
}
"""
).replace("FONT", FONT)
