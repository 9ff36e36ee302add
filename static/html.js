// A run as a page of its own: the graph beside the evidence, drawn from what stands in the page.

import evidence from "./evidence.js";
import graph from "./graph.js";

const at = (id) => document.getElementById(id);
const drawn = JSON.parse(at("hopscope-picture").textContent);

/** Called again when the colours change. */
function show() {
  graph({ data: { view: "html", run: drawn.run, graph: drawn.graph }, parentElement: at("graph") });
  evidence({ data: { view: "html", run: drawn.run, evidence: drawn.evidence }, parentElement: at("evidence") });
}

// A page that a browser saved again holds what was drawn then, too.
for (const id of ["graph", "evidence"]) at(id).replaceChildren();
show();
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
