/* How the page looks: by day and by night, on a phone and on paper. Colours are told apart by those
 * who do not tell red from green. */
#include "report/page_frame.h"

static const char *const light[] = {
    "--ink:#1b2430;--soft:#566270;--faint:#8a94a0;--line:#dfe3e8;--paper:#fff;--panel:#f5f7f9;",
    "--forward:#6d9dc9;--backward:#2b5f93;--sends:#de8f2e;--waits0:#fbeedd;--waits1:#e0a866;",
    "--rest:#9aa3ad;--loads:#3d9c86;--mark:#b23a48;--closed:#7d5ba6;",
    "--h0:#0d3358;--h1:#1f5080;--h2:#4072a5;--h3:#6c96c1;--h4:#99b7d7;--h5:#c3d5e8;--h6:#e6eef6;",
    "--on-strong:#fff;--on-weak:#1b2430;",
};

static const char *const dark[] = {
    "--ink:#e4e8ed;--soft:#a4afbb;--faint:#75808c;--line:#313a45;--paper:#12171d;--panel:#1a2129;",
    "--forward:#7fb0dd;--backward:#3f7cb8;--sends:#e39b3f;--waits0:#3a2f20;--waits1:#a9782f;",
    "--rest:#7c8792;--loads:#4fb39b;--mark:#f07a86;--closed:#b594dd;",
    "--h0:#e2eefa;--h1:#b4d0ec;--h2:#86b0da;--h3:#5c8fc2;--h4:#3d6e9f;--h5:#2a4d72;--h6:#1d3148;",
    "--on-strong:#10161d;--on-weak:#e4e8ed;",
};

static const char *const rules[] = {
    "*{box-sizing:border-box}",
    "html{-webkit-text-size-adjust:100%}",
    "body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:anywhere}",
    "body{font:16px/1.55 system-ui,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif}",
    "body{font-variant-numeric:tabular-nums}",
    "main{max-width:60rem;margin:0 auto;padding:2.5rem 1.25rem 3rem}",
    "h1{font-size:1.9rem;line-height:1.2;margin:0 0 .25rem;letter-spacing:-.01em}",
    "h2{font-size:1.25rem;line-height:1.3;margin:0 0 .5rem;letter-spacing:-.005em}",
    "h3{font-size:1rem;margin:1.5rem 0 .25rem}",
    "p{margin:.4rem 0;max-width:44rem}",
    ".sub{color:var(--soft);margin-bottom:1.5rem}",
    "section{margin:3rem 0 0;padding-top:1.25rem;border-top:1px solid var(--line)}",
    "section.first{border:0;margin:0;padding:0}",
    ".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.75rem}",
    ".facts{margin:1.25rem 0}",
    ".facts div{background:var(--panel);border-radius:.5rem;padding:.8rem 1rem}",
    ".facts dt{color:var(--soft);font-size:.85rem}",
    ".facts dd{margin:0;font-size:1.35rem;font-weight:600;line-height:1.25}",
    ".facts small{display:block;font-size:.85rem;font-weight:400;color:var(--soft)}",
    ".facts small{line-height:1.4;margin-top:.15rem}",
    "figure{margin:1rem 0}",
    "figcaption{font-size:.85rem;color:var(--soft);margin-top:.25rem;max-width:44rem}",
    "svg{display:block;overflow:visible;max-width:100%}",
    ".defs{position:absolute}",
    "svg text{font-size:12px;fill:var(--ink)}",
    "svg text.tick{fill:var(--soft);font-size:11px}",
    "svg text.halo{paint-order:stroke;stroke:var(--panel);stroke-width:4px}",
    "svg text.name{font-weight:600;font-size:13px}",
    "svg text.soft{fill:var(--soft)}",
    "svg text.on{fill:#10161d;font-size:11px}svg text.on.backward{fill:#fff}",
    ".grid{stroke:var(--line);stroke-width:1}",
    ".axis{stroke:var(--faint);stroke-width:1}",
    ".forward{fill:var(--forward)}.backward{fill:var(--backward)}.sends{fill:var(--sends)}",
    ".waits{fill:url(#hatch)}.hatch0{fill:var(--waits0)}.hatch1{fill:var(--waits1)}",
    ".rest{fill:var(--rest)}.loads{fill:var(--loads)}.wire{fill:var(--sends);opacity:.55}",
    ".begin{stroke:var(--ink);stroke-width:1.5}",
    ".ready{stroke:var(--paper);stroke-width:2}",
    ".span{fill:var(--forward);opacity:.45}.mean{stroke:var(--backward);stroke-width:3}",
    ".closed{stroke:var(--closed);stroke-width:2;stroke-dasharray:4 3;fill:none}",
    ".truth{fill:var(--mark)}.truth-line{stroke:var(--mark);stroke-width:2}",
    "rect.key-closed{fill:var(--closed)}rect.key-mean{fill:var(--backward)}",
    ".curve{fill:none;stroke:var(--backward);stroke-width:2;vector-effect:non-scaling-stroke}",
    ".curve.c1{stroke:var(--sends)}.curve.c2{stroke:var(--loads)}.curve.c3{stroke:var(--mark)}",
    ".curve.c4{stroke:var(--closed)}.curve.c5{stroke:var(--rest)}",
    ".curve.closed{stroke:var(--closed);stroke-dasharray:4 3}",
    ".point{fill:var(--backward)}.point.closed{fill:var(--closed);stroke:none}",
    ".now{fill:var(--paper);stroke:var(--backward);stroke-width:3}",
    ".sample{fill:var(--forward);opacity:.55}.window{fill:var(--panel)}",
    ".half{stroke:var(--sends);stroke-width:2}",
    ".h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}",
    ".h4{fill:var(--h4)}.h5{fill:var(--h5)}.h6{fill:var(--h6)}",
    ".none{fill:url(#blank)}.blank0{fill:var(--panel)}.blank1{fill:var(--line)}",
    "svg text.strong{fill:var(--on-strong);font-size:11px}",
    "svg text.weak{fill:var(--on-weak);font-size:11px}",
    ".ring{fill:var(--sends);stroke:var(--paper);stroke-width:1.5}",
    ".ring-line{stroke:var(--sends);stroke-width:1.5;opacity:.6}",
    ".outlier{fill:none;stroke:var(--mark);stroke-width:2.5}",
    "rect.key-ring{fill:var(--sends)}rect.key-outlier{fill:var(--mark)}",
    ".legend{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.85rem;color:var(--soft)}",
    ".legend span{display:inline-flex;align-items:center;gap:.4rem;white-space:nowrap}",
    ".wide{overflow-x:auto;margin:1rem 0;max-width:100%}",
    "table{border-collapse:collapse;font-size:.9rem;min-width:min(100%,24rem)}",
    "caption{text-align:left;color:var(--soft);font-size:.85rem;padding:0 0 .3rem}",
    "caption span{display:inline-block;max-width:min(44rem,calc(100vw - 2rem))}",
    "th,td{text-align:left;padding:.3rem 1.1rem .3rem 0;vertical-align:baseline}",
    "th,td{border-bottom:1px solid var(--line);overflow-wrap:normal;white-space:nowrap}",
    "th{font-weight:600;color:var(--soft)}",
    "td.name{max-width:22rem;overflow:hidden;text-overflow:ellipsis}",
    ".n{text-align:right}",
    "ul{padding-left:1.2rem;margin:.4rem 0;max-width:44rem}li{margin:.3rem 0}",
    "details{margin:1rem 0}summary{cursor:pointer;color:var(--soft);font-size:.9rem}",
    "pre{background:var(--panel);border-radius:.5rem;padding:.8rem 1rem;overflow-x:auto}",
    "pre{font:13px/1.5 ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace}",
    "pre{overflow-wrap:normal;tab-size:4}",
    "code{font:.9em ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace}",
    ".verdict{font-weight:600}.warn{color:var(--mark)}",
    "footer{margin-top:3rem;color:var(--soft);font-size:.85rem}",
    "@media(max-width:36rem){main{padding:1.25rem 1rem 2rem}h1{font-size:1.5rem}}",
    "@media(max-width:36rem){.facts{grid-template-columns:1fr 1fr;gap:.5rem}}",
    "@media(max-width:36rem){.facts div{padding:.6rem .7rem}.facts dd{font-size:1.1rem}}",
    "@media(max-width:36rem){section{margin-top:2.25rem}.many .cell{display:none}}",
};

static void add_all(struct text *out, const char *const *line, size_t n, const char *end)
{
    for (size_t i = 0; i < n; i++) {
        text_add(out, line[i]);
        text_add(out, end);
    }
}

#define ALL(lines) lines, sizeof(lines) / sizeof *(lines)

void page_style(struct text *out)
{
    text_add(out, ":root{color-scheme:light dark;");
    add_all(out, ALL(light), "");
    text_add(out, "}\n@media(prefers-color-scheme:dark){:root{");
    add_all(out, ALL(dark), "");
    text_add(out, "}}\n");
    add_all(out, ALL(rules), "\n");
    text_add(out, "@media print{:root{color-scheme:light;");
    add_all(out, ALL(light), "");
    text_add(out,
             "}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}body{font-size:10pt}"
             "main{max-width:none;padding:0}section{margin-top:1.5rem}"
             "figure,tr,.facts div{break-inside:avoid}h2,h3{break-after:avoid}"
             ".wide,pre{overflow:visible}pre{white-space:pre-wrap}"
             "th,td{white-space:normal;padding-right:.7rem}table{font-size:8.5pt}"
             "details::details-content{content-visibility:visible;height:auto}"
             "@page{margin:16mm}}\n");
}
