// The graph component: the question's echo, the steps, the beam frontier, what is picked, the legend.

import { applyTheme, button, el, hopMark, name, refill } from "./dom.js";
import { HELP, focusQuestion, listenForKeys } from "./keys.js";
import { pageLink } from "./pages.js";
import { Panel, coloursOf, edgesOf } from "./panel.js";
import { viewOf } from "./view.js";

const LAYOUTS = { columns: "Columns", force: "Force" };
const COLOURS = [0, 1, 2, 3, 4].map((hop) => `--hop-${hop}`);
const panels = new WeakMap();

/** Draws one run; called again with each new one. `data` is `{view, run, graph}`.
 *
 * Without `setTriggerValue` it is alone: no app is there to ask or to lay out anew. */
export default function graph(component) {
  const { parentElement } = component;
  if (!panels.has(parentElement)) panels.set(parentElement, new GraphPanel(parentElement, component.data.view, !component.setTriggerValue));
  panels.get(parentElement).show(component);
  return () => {
    panels.get(parentElement)?.destroy();
    panels.delete(parentElement);
  };
}

class GraphPanel extends Panel {
  constructor(root, viewKey, alone) {
    super(alone ? HELP.filter(([key]) => key !== "/") : HELP);
    this.view = viewOf(viewKey);
    this.echo = el("p", { class: "echo", dir: "auto" });
    this.steps = el("div", { class: "steps", role: "group", "aria-label": "Steps of the walk" });
    this.caption = el("p", { class: "caption", "aria-live": "polite" });
    this.leftOut = el("p", { class: "left-out", role: "note" });
    this.near = button("near miss", () => this.view.set({ near: !this.view.state.near }), { class: "near-toggle" });
    const legend = el("div", { class: "legend" }, this.keys(), this.tools("Layout", !alone && (() => this.layouts())));
    this.putUp(root, "graph", this.echo, this.steps, this.caption, this.leftOut, this.stage, legend);
    this.undo.push(
      this.view.onChange(() => this.render()),
      listenForKeys({
        ...(alone ? {} : { "/": focusQuestion }),
        "[": () => this.view.moveStep(-1),
        "]": () => this.view.moveStep(1),
        Escape: () => (this.expanded ? this.expand(false) : this.view.clear()),
      }),
    );
  }

  get selected() {
    return this.view.state.node;
  }

  select(id) {
    this.view.selectNode(id);
  }

  /** What marks and outlines mean; only those that are drawn are shown. */
  keys() {
    const hub = "too many edges to be walked through; the number says how many";
    const alias = "an entity whose name is part of a reached one's, from which the walk went on too";
    this.alias = el("span", { class: "alias-key", title: alias }, "≈ may be");
    this.hub = el("span", { class: "hub-key", title: hub }, "hub");
    this.changed = el("span", { class: "changed-key" });
    this.other = el("span", { class: "other-key" });
    const hops = [0, 1, 2, 3, 4].map((hop) => el("span", { class: "key", "data-hop": hop }, hopMark(hop)));
    return el("div", { class: "keys" }, hops, this.alias, this.near, this.hub, this.changed, this.other);
  }

  layouts() {
    const kinds = Object.entries(LAYOUTS).map(([layout, label]) => ({
      label,
      checked: this.data.layout === layout,
      pick: () => this.trigger("action", { kind: "layout", layout }),
    }));
    return [...kinds, { label: "Tidy", pick: () => this.trigger("action", { kind: "tidy" }) }];
  }

  show({ data, setTriggerValue }) {
    this.data = data.graph;
    this.trigger = setTriggerValue;
    this.live = data.run.live !== false;
    this.box.dataset.run = data.run.id;
    applyTheme(this.box);
    this.colours = coloursOf(this.box, COLOURS);
    const before = this.view.run;
    this.view.load(data.run);
    if (before?.id === data.run.id) this.render();
  }

  pick({ node, edge }) {
    if (node !== undefined) this.view.selectNode(node);
    else if (edge !== undefined) this.pickLine(edge);
    else this.view.clear();
  }

  /** A fact; of a "may be" the alias. */
  pickLine(id) {
    const { alias, to } = this.data.edges.find((edge) => edge.id === id);
    if (alias) this.view.selectNode(to);
    else this.view.selectFact(id);
  }

  render() {
    if (!this.data || this.view.run?.id !== this.box.dataset.run) return;
    const { state } = this.view;
    this.echo.replaceChildren(...this.data.echo.map((piece) => echoPiece(piece, this.view)));
    refill(this.steps, ...this.data.steps.map((step, index) => this.stepButton(step, index)));
    this.caption.textContent = this.data.steps[state.step]?.caption ?? "";
    this.leftOut.textContent = this.data.leftOut;
    this.leftOut.hidden = !this.data.leftOut;
    this.frontier.draw(this.data, this.view, this.colours);
    this.renderPicked(this.data.nodes.find((node) => node.id === state.node));
    this.renderLegend();
    this.find.render(state.node);
    this.nameCanvas("the facts are listed beside it");
  }

  stepButton(step, index) {
    return button(step.label, () => this.view.set({ step: index }), { "aria-pressed": String(this.view.state.step === index) });
  }

  renderPicked(node) {
    const about = node && [node.type, edgesOf(node), node.alias && `may be ${node.alias}`].filter(Boolean);
    refill(
      this.picked,
      ...(node
        ? [
            el("strong", {}, name(node.name)),
            el("span", { class: "quiet" }, about.map((part) => [" · ", name(part)])),
            this.live && (node.hop > 0 || node.alias) ? button("Add as seed", () => this.trigger("action", { kind: "seed", id: node.id })) : "",
            this.live ? pageLink("Browse", "browse", { open: node.id }) : "",
          ]
        : []),
    );
  }

  renderLegend() {
    const hops = new Set(this.data.nodes.map((node) => node.hop));
    const any = (what) => this.data.nodes.some((node) => node[what]) || this.data.edges.some((edge) => edge[what]);
    this.hub.hidden = !any("hub");
    this.alias.hidden = !any("alias");
    this.changed.hidden = !any("entered") && !any("left");
    const [one, other] = this.data.sides ?? [];
    this.changed.classList.toggle("one", Boolean(one));
    this.changed.textContent = one ? `only ${one}` : "changed";
    this.changed.title = one ? `a halo round what only ${one} finds` : "a halo round what entered the result, dots for what left it";
    this.other.hidden = !one || this.changed.hidden;
    this.other.textContent = `only ${other}`;
    this.other.title = `dashes for what only ${other} finds`;
    for (const key of this.box.querySelectorAll("[data-hop]")) key.hidden = !hops.has(Number(key.dataset.hop));
    this.near.hidden = !this.data.edges.some((edge) => edge.near);
    this.near.setAttribute("aria-pressed", String(this.view.state.near));
  }
}

function echoPiece(piece, view) {
  if (!("hop" in piece)) return piece.text;
  if (piece.hop === null) return el("span", { class: "word unexplained", title: "nothing explained this word" }, piece.text);
  if (!view.reaches(piece.hop)) return el("span", { class: "word later" }, piece.text);
  return el("span", { class: `word word-${piece.hop}` }, piece.text, hopMark(piece.hop));
}
