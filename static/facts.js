// The list of facts, and under it what the beams just missed.

import { button, el, hopMark, name, reveal } from "./dom.js";

const ROWS_AT_ONCE = 100;
const FATES = { reranked_out: "cut by the reranker", top_k_cut: "cut by top k" };

export class FactList {
  constructor(view, { setBeam }) {
    this.view = view;
    this.setBeam = setBeam;
    this.open = { near: false, left: false };
  }

  load(data) {
    this.data = data;
    this.byId = new Map([...data.left, ...data.near, ...data.facts].map((fact) => [fact.id, fact]));
    this.entered = new Set(data.entered);
    this.rowsShown = ROWS_AT_ONCE;
    this.drawn = null;
  }

  /** What the step leaves of the facts, numbered from 1; at the result the number is the rank. */
  get atStep() {
    const facts = this.view.atResult
      ? this.data.facts.filter((fact) => fact.rank !== null)
      : this.data.facts.filter((fact) => this.view.reaches(fact.hop)).sort((a, b) => b.score - a.score);
    return facts.map((fact, index) => ({ ...fact, number: index + 1 }));
  }

  /** And what the picked node leaves of those. */
  get shown() {
    return this.atStep.filter((fact) => this.concernsNode(fact));
  }

  get near() {
    return this.data.near.filter((fact) => this.view.reaches(fact.hop) && this.concernsNode(fact));
  }

  /** What the run before had in its result. */
  get left() {
    return this.view.atResult ? this.data.left.filter((fact) => this.concernsNode(fact)) : [];
  }

  concernsNode(fact) {
    const { node } = this.view.state;
    return node === null || fact.sourceId === node || fact.targetId === node;
  }

  /** The fact whose source is shown: the selected one, else the first of the picked node's. */
  get active() {
    const { fact, node } = this.view.state;
    return this.byId.get(fact) ?? (node === null ? undefined : this.shown[0]);
  }

  move(by) {
    const listed = [...this.shown, ...(this.open.left ? this.left : []), ...(this.open.near ? this.near : [])];
    const at = listed.findIndex((fact) => fact.id === this.view.state.fact);
    const next = listed[at < 0 ? 0 : Math.min(listed.length - 1, Math.max(0, at + by))];
    if (next) this.view.selectFact(next.id);
  }

  /** Rebuilds the list only when it lists something else; a selection only opens its row. */
  renderInto(pane) {
    const { step, node } = this.view.state;
    const listed = JSON.stringify([step, node]);
    if (this.drawn !== listed || this.list.parentNode !== pane) {
      this.hidden = {};
      this.list = el("div", { class: "facts" }, this.heading(), this.rows(), this.leftFacts(), this.nearMisses());
      pane.replaceChildren(this.list);
      this.drawn = listed;
    }
    this.openSelected();
  }

  heading() {
    const { node } = this.view.state;
    if (node === null) return null;
    const fact = [...this.byId.values()].find((one) => one.sourceId === node || one.targetId === node);
    const label = fact ? name(fact.sourceId === node ? fact.source : fact.target) : "this entity";
    return el("p", { class: "filtered" }, "Facts of ", el("strong", {}, label), button("Show all", () => this.view.clear()));
  }

  rows() {
    const { shown } = this;
    if (!shown.length) return el("p", { class: "empty" }, this.view.state.step === 0 ? "The walk has not begun." : "No facts here.");
    const item = (fact) => el("li", { "data-fact": fact.id }, this.row(fact, this.aside(fact)));
    const selected = shown.findIndex((fact) => fact.id === this.view.state.fact);
    this.rowsShown = Math.max(this.rowsShown, selected + 1);
    const list = el("ol", {}, shown.slice(0, this.rowsShown).map(item));
    const more = shown.length - this.rowsShown;
    return [list, more > 0 && this.moreRows(more)];
  }

  moreRows(more) {
    const show = () => {
      this.rowsShown += ROWS_AT_ONCE;
      this.drawn = null;
      this.renderInto(this.list.parentNode);
    };
    return el("p", { class: "more-rows" }, button(`Show ${Math.min(more, ROWS_AT_ONCE)} more of ${more.toLocaleString("en")}`, show));
  }

  aside(fact) {
    const documents = fact.documents.length;
    return el(
      "span",
      { class: "aside" },
      this.view.atResult && this.entered.has(fact.id) && el("span", { class: "new" }, "NEW"),
      fact.bridge && "bridge · ",
      FATES[fact.fate] && `${FATES[fact.fate]} · `,
      documents > 0 && `${documents} ${documents === 1 ? "doc" : "docs"}`,
    );
  }

  row(fact, aside) {
    const says = el(
      "span",
      { class: "says" },
      el("span", { class: "rank" }, String(fact.number ?? "")),
      hopMark(fact.hop),
      triple(fact),
    );
    const details = el(
      "span",
      { class: "details" },
      this.bar(fact),
      el("span", { class: "score" }, fact.score.toFixed(3)),
      fact.words.length ? fact.words.map((word) => el("span", { class: "chip" }, "+", name(word))) : el("span", { class: "quiet" }, "no new words"),
      aside,
    );
    const select = () => this.view.selectFact(fact.id);
    return el("button", { type: "button", class: "row", "aria-pressed": "false", onclick: select }, says, details);
  }

  /** From 0 to the run's best score, with a tick where the hop's beam was cut; hollow when nothing new is explained. */
  bar(fact) {
    const share = (score) => `${Math.min(100, Math.max(0, (100 * score) / (this.data.best || 1))).toFixed(1)}%`;
    return el(
      "span",
      { class: fact.words.length ? "bar" : "bar hollow", title: `hop ${fact.hop} was cut at ${fact.cutoff.toFixed(3)}` },
      el("span", { class: `fill fill-${fact.hop}`, style: `width: ${share(fact.score)}` }),
      el("span", { class: "cutoff", style: `left: ${share(fact.cutoff)}` }),
    );
  }

  leftFacts() {
    return this.collapsed("left", "Left", this.left, (fact) => el("li", { "data-fact": fact.id, class: "left" }, this.row(fact, null)));
  }

  nearMisses() {
    return this.collapsed("near", "Near misses", this.near, (fact) =>
      el("li", { "data-fact": fact.id, class: "near" }, this.row(fact, null), el("p", { class: "missed" }, this.missed(fact), this.enters(fact))),
    );
  }

  missed({ hop, beam, considered, score, cutoff }) {
    return `hop ${hop} · rank ${beam} of ${considered.toLocaleString("en")} · ${score.toFixed(3)}, needs ${cutoff.toFixed(3)} · `;
  }

  enters({ beam }) {
    const label = `enters at beam ${beam}`;
    return this.view.run.live ? button(label, () => this.setBeam(beam), { title: `Set the beam to ${beam}` }) : label;
  }

  /** Its rows are made when it is opened: there may be hundreds. */
  collapsed(kind, label, facts, item) {
    if (!facts.length) return null;
    const list = el("ol");
    const details = el("details", { class: kind === "near" ? "near-misses" : "left-facts" }, el("summary", {}, `${label} ${facts.length}`), list);
    details.fill = () => {
      if (!list.children.length) list.append(...facts.map(item));
      details.open = this.open[kind] = true;
    };
    if (this.open[kind]) details.fill();
    details.addEventListener("toggle", () => {
      this.open[kind] = details.open;
      if (!details.open || list.children.length) return;
      details.fill();
      this.openSelected();
    });
    this.hidden[kind] = { details, ids: new Set(facts.map((fact) => fact.id)) };
    return details;
  }

  openSelected() {
    const { fact } = this.view.state;
    const beyond = this.shown.findIndex((one) => one.id === fact) >= this.rowsShown;
    if (beyond) {
      this.drawn = null;
      this.renderInto(this.list.parentNode);
      return;
    }
    if (!this.shown.some((one) => one.id === fact)) {
      for (const { details, ids } of Object.values(this.hidden)) if (ids.has(fact)) details.fill();
    }
    for (const item of this.list.querySelectorAll("li[data-fact]")) {
      const selected = item.dataset.fact === fact;
      const row = item.querySelector(".row");
      if (row.getAttribute("aria-pressed") === String(selected)) continue;
      row.setAttribute("aria-pressed", String(selected));
      row.querySelector(".chain")?.remove();
      if (!selected) continue;
      if (!item.classList.contains("left")) row.append(this.chain(this.byId.get(fact)));
      reveal(item, this.list.parentNode);
    }
  }

  /** The path that led to a fact, with the score at each of its steps and the words that it newly explains. */
  chain(fact) {
    const path = fact.chain.map((id) => this.byId.get(id)).filter(Boolean);
    const step = (one, at) => [
      at > 0 && one.aliasOf && [" ▸ ", startOf(one)],
      " ▸ ",
      el("span", { class: "relation" }, name(one.relation)),
      ` ${one.score.toFixed(3)}`,
      one.words.length > 0 && el("span", { class: "quiet" }, one.words.map((word) => [" +", name(word)])),
    ];
    return el(
      "span",
      { class: "chain" },
      hopMark(0),
      startOf(path[0] ?? fact),
      path.map(step),
      fact.description && el("span", { class: "description" }, name(fact.description)),
    );
  }
}

/** Where a step of a chain starts; an alias after the name that it is a part of. */
function startOf({ start, aliasOf }) {
  return aliasOf ? [name(aliasOf), el("span", { title: "may be: its name is part of that name" }, " ≈ "), name(start)] : name(start);
}

function triple(fact) {
  return el(
    "span",
    { class: "triple" },
    el("b", {}, name(fact.source)),
    " —",
    el("span", { class: "relation" }, name(fact.relation)),
    "→ ",
    el("b", {}, name(fact.target)),
  );
}
