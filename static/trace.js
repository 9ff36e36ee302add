// Everything that the walk tried, with what became of it.

import { el, hopMark, name } from "./dom.js";

const FATES = {
  kept: "kept",
  beam_cut: "cut by the beam",
  hub: "hub, not walked through",
  duplicate: "a worse path",
  llm_cut: "not passed by the chat model",
  reranked_out: "cut by the reranker",
  top_k_cut: "cut by top k",
};
const FOUND_BY = { id: "chosen", name: "by name", mention: "mentioned", vector: "by meaning" };
const ROWS_SHOWN = 300;

export class TraceTable {
  constructor(view) {
    this.view = view;
    this.fate = "";
  }

  load({ trace, sources }) {
    this.trace = trace;
    this.picked = sources.filter((source) => source.why?.picked);
    this.drawn = null;
  }

  renderInto(pane) {
    if (this.drawn === null || this.drawn.parentNode !== pane) {
      this.rows = el("tbody");
      this.more = el("p", { class: "quiet" });
      this.drawn = el(
        "div",
        { class: "trace" },
        this.trace.warnings.map((warning) => el("p", { class: "warning" }, warning)),
        this.seeds(),
        this.hops(),
        this.aliases(),
        this.passages(),
        this.filter(),
        table(["hop", "rank", "score", "gain", "fate", "fact", "new words"], this.rows),
        this.more,
        this.timings(),
      );
      pane.replaceChildren(this.drawn);
      this.renderRows();
    }
    for (const row of this.rows.children) row.classList.toggle("selected", row.dataset.fact === this.view.state.fact);
  }

  seeds() {
    const rows = this.trace.seeds.map((seed) =>
      row([name(seed.name), seed.type, FOUND_BY[seed.foundBy] ?? seed.foundBy, name(seed.text), seed.score.toFixed(3), String(seed.degree)]),
    );
    return table(["seed", "type", "found", "from", "score", "edges"], el("tbody", {}, rows));
  }

  hops() {
    const rows = this.trace.hops.map((hop) =>
      row([hopMark(hop.number), hop.considered, hop.kept, hop.leftOut, hop.kept ? hop.cutoff.toFixed(3) : "–"].map(asText)),
    );
    return table(["hop", "considered", "kept", "beyond shortlist", "cutoff"], el("tbody", {}, rows));
  }

  /** What a hop started from without having been reached. */
  aliases() {
    return this.trace.hops
      .filter((hop) => hop.aliases.length)
      .map((hop) => {
        const listed = hop.aliases.flatMap(({ name: own, of }) => [", ", name(own), " (may be ", name(of), ")"]).slice(1);
        const more = hop.moreAliases > 0 && ` and ${hop.moreAliases.toLocaleString("en")} more`;
        return el("p", { class: "aliases" }, hopMark(hop.number), " also started from ", listed, more);
      });
  }

  passages() {
    const { weighed, picked } = this.trace.passages;
    if (!weighed) return null;
    const rows = this.picked.map((source) => {
      const { rank, score, path, near, pageRank, words } = source.why;
      const parts = [path, near, pageRank].map(({ adds }) => adds.toFixed(2));
      const select = () => this.view.selectFact(source.facts[0] ?? null, source.id);
      return row([String(rank), score.toFixed(2), ...parts, name(source.title), words.join(", ")], { class: "known", onclick: select });
    });
    return [
      el("p", {}, `${weighed} ${weighed === 1 ? "passage" : "passages"} weighed, ${picked} picked`),
      table(["rank", "score", "path", "nearness", "PageRank", "passage", "newly explains"], el("tbody", {}, rows)),
    ];
  }

  filter() {
    const found = new Set(this.trace.candidates.map((candidate) => candidate.fate));
    const options = Object.entries(FATES).filter(([fate]) => found.has(fate));
    if (!found.has(this.fate)) this.fate = "";
    const choose = (event) => {
      this.fate = event.target.value;
      this.renderRows();
    };
    const select = el(
      "select",
      { onchange: choose, "aria-label": "Fate" },
      el("option", { value: "" }, "every fate"),
      options.map(([fate, label]) => el("option", { value: fate, selected: fate === this.fate }, label)),
    );
    return el("p", { class: "filter" }, "Candidates ", select);
  }

  renderRows() {
    const chosen = this.trace.candidates.filter((candidate) => !this.fate || candidate.fate === this.fate);
    this.rows.replaceChildren(...chosen.slice(0, ROWS_SHOWN).map((candidate) => this.candidate(candidate)));
    const left = chosen.length - ROWS_SHOWN;
    this.more.textContent = left > 0 ? `and ${left.toLocaleString("en")} more: choose a fate` : "";
  }

  candidate(candidate) {
    const cells = [
      hopMark(candidate.hop),
      candidate.rank || "–",
      candidate.score.toFixed(3),
      candidate.gain.toFixed(3),
      FATES[candidate.fate],
      name(candidate.fact),
      candidate.words.join(", "),
    ].map(asText);
    const known = this.view.run.facts.includes(candidate.id);
    const select = known ? () => this.view.selectFact(candidate.id) : null;
    return row(cells, { "data-fact": candidate.id, class: known ? "known" : null, onclick: select });
  }

  timings() {
    const stages = this.trace.timings.map(({ stage, ms }) => `${stage} ${ms} ms`);
    return el("p", { class: "quiet" }, stages.join(" · "));
  }
}

function asText(cell) {
  return cell instanceof Node ? cell : String(cell);
}

function row(cells, attributes = {}) {
  return el("tr", attributes, cells.map((cell) => el("td", {}, cell)));
}

function table(headings, body) {
  return el("table", {}, el("thead", {}, el("tr", {}, headings.map((heading) => el("th", { scope: "col" }, heading)))), body);
}
