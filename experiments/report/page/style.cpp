#include "experiments/report/chart/palette.h"
#include "experiments/report/page/parts.h"

namespace ablate::report {
namespace {

constexpr const char* kLightRules =
    "--paper:#ffffff;--raised:#f6f7f8;--ink:#1f2328;--muted:#59616b;--rule:#d9dde1;"
    "--grid:#e7eaed;--accent:#0a62a8;--trained:#eef4f8;--warn:#8a3b00;--warn-paper:#fdf3ea;"
    "--good:#00704f;--margin:#dde7ee;--shade:#1f232838;--band:.16;";
constexpr const char* kDarkRules =
    "--paper:#14171a;--raised:#1c2024;--ink:#e6e8eb;--muted:#a0a8b1;--rule:#363c43;"
    "--grid:#282d33;--accent:#7cbcf0;--trained:#1c262e;--warn:#f0a56b;--warn-paper:#2a2018;"
    "--good:#4cc79d;--margin:#2b3a46;--shade:#000000b0;--band:.28;";
constexpr const char* kPrintedRules =
    "--ink:#000000;--muted:#444444;--rule:#bbbbbb;--grid:#dddddd;--accent:#000000;"
    "--trained:#eef2f5;--warn-paper:#ffffff;--good:#00543b;";

/// The variables of light, dark and printed pages; paper is light.
std::string variable_rules() {
  const auto light = kLightRules + colour_variables(light_palette());
  const auto dark = kDarkRules + colour_variables(dark_palette());
  return "\n:root{color-scheme:light dark;" + light +
         "}\n@media(prefers-color-scheme:dark){:root{" + dark + "}}\n@media print{:root{" + light +
         kPrintedRules + "}}\n";
}

constexpr const char* kTextRules = R"(
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,
"Segoe UI",Roboto,
"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif;overflow-wrap:break-word}
main,nav,footer{max-width:84rem;margin:0 auto;padding:0 1.5rem}
header{padding:2.6rem 0 0}
h1,h2,h3,h4{line-height:1.25;font-weight:650;overflow-wrap:anywhere;text-wrap:balance}
h1{font-size:clamp(1.5rem,1.1rem + 1.4vw,2.1rem);margin:.2rem 0 1rem;max-width:56rem;
letter-spacing:-.012em}
h2{font-size:1.4rem;margin:2.6rem 0 .8rem;padding-top:1.1rem;border-top:1px solid var(--rule)}
h3{font-size:1.08rem;margin:2.2rem 0 .6rem}
h4{font-size:.88rem;margin:1.2rem 0 .3rem;color:var(--muted);font-weight:600}
p,ul{max-width:46rem;margin:.5rem 0 1rem}
ul{padding-left:1.2rem}
li{overflow-wrap:anywhere}
a{color:var(--accent);text-underline-offset:.18em}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:3px}
code,pre{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",
monospace;font-size:.86em}
pre{background:var(--raised);border:1px solid var(--rule);border-radius:6px;padding:.8rem 1rem;
overflow-x:auto;margin:.5rem 0 1rem;line-height:1.45}
.muted{color:var(--muted)}
.study{margin:0;color:var(--muted);font-size:.9rem;letter-spacing:.02em;overflow-wrap:anywhere}
.standing{margin:-.8rem 0 1.4rem}
.answer.long{font-size:1rem}
.answer{font-size:1.16rem;line-height:1.5;max-width:50rem;margin:0 0 1.6rem;padding-left:1rem;
border-left:4px solid var(--accent);overflow-wrap:anywhere;white-space:pre-line}
.facts{display:flex;flex-wrap:wrap;gap:.4rem 2.2rem;margin:0 0 1rem}
.facts div{max-width:100%}
.facts dt{font-size:.76rem;color:var(--muted)}
.facts dd{margin:0;font-weight:550;overflow-wrap:anywhere}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;padding:.6rem 0;margin:0;
max-width:none;border-bottom:1px solid var(--rule);font-size:.9rem}
nav li{max-width:100%}
.skip{position:absolute;left:-200vw;top:.5rem;background:var(--paper);padding:.5rem 1rem;z-index:1}
.skip:focus{left:.5rem}
.warning{background:var(--warn-paper);border:1px solid var(--warn);border-left-width:5px;
border-radius:6px;padding:.2rem 1.2rem .6rem;margin:1.5rem 0}
.warning h2{border:0;margin:.8rem 0 .3rem;padding:0;color:var(--warn);font-size:1.15rem}
.expectations{list-style:none;padding:0;max-width:none}
.expectations li{display:flex;flex-wrap:wrap;gap:.2rem .9rem;align-items:baseline;padding:.45rem 0;
border-bottom:1px solid var(--grid)}
.expectations strong{min-width:4.6rem}
.holds strong,.better,.exact{color:var(--good)}
.fails strong,.worse{color:var(--warn)}
footer{color:var(--muted);font-size:.85rem;padding-top:3rem;padding-bottom:3rem}
)";

constexpr const char* kTableRules = R"(
.scroll{overflow-x:auto;margin:.4rem 0 1rem;max-width:100%;background-repeat:no-repeat;
background-image:linear-gradient(to right,var(--paper) 40%,transparent),
linear-gradient(to left,var(--paper) 40%,transparent),
linear-gradient(to right,var(--shade),transparent),
linear-gradient(to left,var(--shade),transparent);
background-position:0 0,100% 0,0 0,100% 0;background-size:2.4rem 100%,2.4rem 100%,.7rem 100%,.7rem 100%;
background-attachment:local,local,scroll,scroll}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums lining-nums;
line-height:1.35}
th,td{padding:.42rem .8rem .42rem 0;text-align:left;vertical-align:middle;
border-bottom:1px solid var(--grid)}
th:last-child,td:last-child{padding-right:.2rem}
thead th{font-weight:550;color:var(--muted);font-size:.91em;vertical-align:bottom;
border-bottom:1px solid var(--ink);white-space:nowrap}
thead tr:not(:last-child) th,thead tr:not(:last-child) td{border-bottom:0;padding-bottom:0}
thead th.group{color:var(--ink);font-weight:600;white-space:normal;overflow-wrap:anywhere}
tbody th{font-weight:550;max-width:18rem}
td{max-width:30rem}
th,td{overflow-wrap:break-word}
.number{text-align:right;white-space:nowrap}
thead th.number{text-align:right}
tr.baseline{background:var(--raised)}
.ablation th,.ablation td{padding-right:.58rem}
.ablation tbody th{min-width:11rem;max-width:15rem}
.ablation tr>:first-child{padding-left:.5rem;position:sticky;left:0;background:var(--paper)}
.ablation tr.baseline>:first-child{background:var(--raised)}
.ablation tbody tr.group>*{padding-top:1.3rem;color:var(--ink);font-weight:600;
border-bottom-color:var(--rule);vertical-align:bottom}
.arm{display:inline-flex;align-items:center}
.arm span{min-width:0;overflow-wrap:anywhere}
.arm .short{white-space:nowrap;overflow-wrap:normal}
.changes{display:block;font-weight:400;margin-top:.1rem;color:var(--muted);font-size:.91em}
.changes code{display:block;font-size:.95em;line-height:1.4}
.below{display:block;font-weight:400;font-size:.89em;color:var(--muted);white-space:nowrap}
.verdict{min-width:6.6em}
.verdict.claim{font-weight:650}.verdict.equivalent{color:var(--accent)}
.ends{display:flex;justify-content:space-between;width:108px;font-weight:400;font-size:.82em;
color:var(--muted)}
.ends.one{justify-content:center}
.samples td,.samples th{vertical-align:top}
.samples th{min-width:7.5rem;max-width:12rem}
.match{white-space:nowrap}
.sample-box{min-width:0}
.sample{white-space:pre-wrap;min-width:12rem;unicode-bidi:plaintext}
.command{display:block;min-width:24rem}
details{margin:.4rem 0 .8rem}
summary{cursor:pointer;color:var(--accent);font-size:.9rem;width:fit-content;max-width:100%}
)";

constexpr const char* kFigureRules = R"(
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.4rem;list-style:none;padding:0;
margin:1.4rem 0 .2rem;max-width:none;font-size:.9rem}
.legend li{max-width:100%}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,30rem),1fr));
gap:1.6rem 2rem;margin:1rem 0;align-items:start}
.figures.small{grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr))}
.figures.four{grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr))}
figure{margin:0;min-width:0;break-inside:avoid}
figcaption{font-size:.88rem;color:var(--muted);margin-bottom:.4rem;line-height:1.4;
overflow-wrap:anywhere}
figcaption strong{color:var(--ink);font-weight:600}
.chart{display:block;width:100%;height:auto;max-width:34rem;font-size:11.5px;overflow:visible}
.chart text,.strip text{fill:var(--ink);font-variant-numeric:tabular-nums}
.swatch,.strip{vertical-align:middle;flex:none}
.swatch{margin-right:.5rem}
.chart .tick{fill:var(--muted);font-size:11px}
.chart .label{fill:var(--muted)}
.chart .note{fill:var(--muted);font-size:11px}
.chart .name{font-size:11.5px}
.end{text-anchor:end}.middle{text-anchor:middle}
.grid{stroke:var(--grid);fill:none}
.axis{stroke:var(--muted);fill:none}
.edge{stroke:var(--muted);stroke-dasharray:2 3;fill:none}
.trained{fill:var(--trained)}
.line{fill:none;stroke:var(--c);stroke-width:1.8;stroke-linejoin:round}
.mark{fill:var(--c);stroke:var(--paper);stroke-width:1}
.band{fill:var(--c);opacity:var(--band)}
.whisker{fill:none;stroke:var(--c);stroke-width:1.3;opacity:.55}
.interval{stroke:var(--c);stroke-width:5;opacity:calc(var(--band)*1.9);fill:none}
.mean{stroke:var(--c);stroke-width:2.2;fill:none}
.ring{fill:none;stroke:var(--c);stroke-width:1.8}
.dot{fill:var(--c);opacity:.8}
.pixels{image-rendering:pixelated}
.frame{fill:none;stroke:var(--rule)}
.hover{fill:transparent}
.forest{display:block;width:100%;height:auto;max-width:42rem;font-size:12.5px;overflow:visible}
.forest text{fill:var(--ink);font-variant-numeric:tabular-nums;paint-order:stroke;
stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}
#differences{margin:0 0 1.6rem}
.forest .group{font-weight:600}
.forest .tick,.forest .label{fill:var(--muted)}
.forest .mark{stroke:var(--paper);stroke-width:1}
.bar{stroke:var(--c);stroke-width:1.8;fill:none}
.forest .dot{opacity:.5}
.zero{stroke:var(--ink);stroke-dasharray:3 2;fill:none}
.margin{fill:var(--margin)}
.files{font-size:.9rem;color:var(--muted)}
)";

constexpr const char* kNarrowAndPrinted = R"(
@media(max-width:640px){main,nav,footer{padding:0 1rem}header{padding-top:1.6rem}
body{font-size:15.5px}
.chart{font-size:13.5px}.chart .tick,.chart .note{font-size:13.5px}.chart .name{font-size:12px}
.forest{font-size:18px}
.ablation,.ablation thead,.ablation tbody{display:block}
.ablation thead tr:last-child,.ablation .wide{display:none}
.ablation thead tr:first-child{display:flex;flex-wrap:wrap;gap:0 .8rem;border-bottom:1px solid var(--ink)}
.ablation tr{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.1rem .8rem;
padding:.45rem .3rem;border-bottom:1px solid var(--grid);align-items:baseline}
.ablation tr>*,.ablation tr>:first-child{border:0;padding:0;position:static;background:none;
min-width:0;max-width:none}
.ablation tr>.difference{text-align:left}
.ablation .difference::before{content:"difference ";color:var(--muted)}
.ablation .below{display:inline;margin-left:.4em}
.ablation .verdict{text-align:right}
.ablation tr.baseline .verdict{grid-column:1/-1;text-align:left}
.ablation tr.baseline{background:var(--raised)}
.expectations strong{min-width:0}.answer.long{font-size:1rem}
.answer{font-size:1.06rem}}
@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{
@page{size:A4 landscape;margin:14mm}
body{font-size:10.5pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}
nav,.skip,details:not([open]){display:none}
header{padding-top:0}h2,h3,h4{break-after:avoid}tr,li,figure{break-inside:avoid}
tr.group{break-after:avoid}
.scroll{overflow:visible;background:none}table{font-size:8.4pt}.forest{max-width:15cm}th,td{padding-right:.5em}
main{max-width:none;padding:0}.figures{grid-template-columns:1fr 1fr}
.figures.small{grid-template-columns:1fr 1fr 1fr}}
)";

}  // namespace

std::string style_sheet() {
  return variable_rules() + colour_rules() + kTextRules + kTableRules + kFigureRules +
         kNarrowAndPrinted;
}

}  // namespace ablate::report
