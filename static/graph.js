// The graph component: the question's echo, the steps, the beam frontier, what is picked, the legend.

import { applyTheme, button, el, fillHeight, hopMark, name, refill } from "./dom.js";
import { Find } from "./find.js";
import { HELP, focusQuestion, listenForKeys } from "./keys.js";
import { menu } from "./menu.js";
import { Frontier } from "./network.js";
import { viewOf } from "./view.js";

const LAYOUTS = { columns: "Columns", force: "Force" };
const GRAPH_HELP = [
  ["Tab ← ↑ → ↓", "in the graph: from entity to entity"],
  ["Tab +  −  0", "in the graph: closer, wider, all"],
];
const panels = new WeakMap();

/** Draws one run; called again with each new one. `data` is `{view, run, graph}`. */
export default function graph(component) {
  const { parentElement } = component;
  if (!panels.has(parentElement)) panels.set(parentElement, new GraphPanel(parentElement, component.data.view));
  panels.get(parentElement).show(component);
  return () => {
    panels.get(parentElement)?.destroy();
    panels.delete(parentElement);
  };
}

class GraphPanel {
  constructor(root, viewKey) {
    this.view = viewOf(viewKey);
    this.echo = el("p", { class: "echo", dir: "auto" });
    this.steps = el("div", { class: "steps", role: "group", "aria-label": "Steps of the walk" });
    this.caption = el("p", { class: "caption", "aria-live": "polite" });
    this.leftOut = el("p", { class: "left-out", role: "note" });
    this.canvas = el("div", { class: "canvas", role: "application", tabindex: "0", onkeydown: (event) => this.walk(event) });
    this.picked = el("div", { class: "picked", "aria-live": "polite" });
    const help = [...HELP, ...GRAPH_HELP];
    this.help = el("dl", { class: "help", hidden: true }, help.map(([key, does]) => [el("dt", {}, key), el("dd", {}, does)]));
    this.near = button("near miss", () => this.view.set({ near: !this.view.state.near }), { class: "near-toggle" });
    this.find = new Find({
      named: () => this.data.nodes.filter(({ id }) => this.frontier.shown.has(id)),
      go: ({ id }) => this.come(id),
    });
    this.box = el(
      "section",
      { class: "panel graph", "aria-label": "Graph", onkeydown: (event) => this.keepFocus(event) },
      this.echo,
      this.steps,
      this.caption,
      this.leftOut,
      el("div", { class: "stage" }, this.canvas, this.picked, this.help),
      el("div", { class: "legend" }, this.keys(), this.tools()),
    );
    root.append(this.box);
    this.frontier = new Frontier(this.canvas, { pick: (at) => this.pick(at) });
    this.undo = [
      fillHeight(this.box, 340),
      this.view.onChange(() => this.render()),
      listenForKeys({
        "/": focusQuestion,
        "[": () => this.view.moveStep(-1),
        "]": () => this.view.moveStep(1),
        Escape: () => (this.expanded ? this.expand(false) : this.view.clear()),
      }),
    ];
  }

  /** What marks and outlines mean; only those that are drawn are shown. */
  keys() {
    const hub = "too many edges to be walked through; the number says how many";
    const changed = "a halo round what entered the result, dots for what left it";
    const alias = "an entity whose name is part of a reached one's, from which the walk went on too";
    this.alias = el("span", { class: "alias-key", title: alias }, "≈ may be");
    this.hub = el("span", { class: "hub-key", title: hub }, "hub");
    this.changed = el("span", { class: "changed-key", title: changed }, "changed");
    const hops = [0, 1, 2, 3, 4].map((hop) => el("span", { class: "key", "data-hop": hop }, hopMark(hop)));
    return el("div", { class: "keys" }, hops, this.alias, this.near, this.hub, this.changed);
  }

  tools() {
    const named = (title) => ({ title, "aria-label": title });
    this.wider = button("⤢", () => this.expand(!this.expanded), { ...named("Expand"), "aria-pressed": "false" });
    return el(
      "div",
      { class: "tools" },
      this.find.box,
      button("⌂", () => this.frontier.fit(), named("Show the whole graph")),
      this.wider,
      button("PNG", () => this.save(), { title: "Save the graph as a picture" }),
      menu("⋯", "Layout", () => this.layouts()),
      button("?", () => this.toggleHelp(), { ...named("Keys"), "aria-expanded": "false" }),
    );
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
    this.colours = coloursOf(this.box);
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

  /** Selects an entity and puts it into the middle. */
  come(id) {
    this.view.selectNode(id);
    this.frontier.centre(id);
  }

  /** The keys of a graph that was come to by Tab; one that was clicked leaves the arrows to the facts. */
  walk(event) {
    if (event.target !== this.canvas || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow")) {
      const id = this.frontier.next(this.view.state.node, event.key);
      if (id === undefined) return;
      this.view.selectNode(id);
      this.frontier.reveal(id);
    } else if (event.key === "+") this.frontier.zoomBy(1.25);
    else if (event.key === "-") this.frontier.zoomBy(0.8);
    else if (event.key === "0") this.frontier.fit();
    else return;
    event.preventDefault();
  }

  get expanded() {
    return this.box.hasAttribute("popover");
  }

  /** Over the whole window: a popover is above everything, wherever on the page it stands. */
  expand(wide) {
    if (wide) {
      this.box.setAttribute("popover", "manual");
      this.box.showPopover();
    } else {
      this.box.removeAttribute("popover");
      window.dispatchEvent(new Event("resize")); // the panel reaches to the foot of the window again
    }
    this.wider.setAttribute("aria-pressed", String(wide));
    this.frontier.closest = wide ? 1.6 : 1;
  }

  /** While the panel hides the page, Tab stays in it. */
  keepFocus(event) {
    if (event.key !== "Tab" || !this.expanded) return;
    const all = [...this.box.querySelectorAll("button, input, [tabindex='0']")].filter((one) => one.tabIndex >= 0 && one.checkVisibility());
    const [from, to] = event.shiftKey ? [all[0], all.at(-1)] : [all.at(-1), all[0]];
    if (event.target !== from) return;
    event.preventDefault();
    to.focus();
  }

  toggleHelp() {
    const hidden = this.help.toggleAttribute("hidden");
    this.box.querySelector("[aria-label=Keys]").setAttribute("aria-expanded", String(!hidden));
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
    const count = this.frontier.shown.size;
    this.canvas.setAttribute("aria-label", `Graph of ${count} ${count === 1 ? "entity" : "entities"}; the facts are listed beside it`);
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
    for (const key of this.box.querySelectorAll("[data-hop]")) key.hidden = !hops.has(Number(key.dataset.hop));
    this.near.hidden = !this.data.edges.some((edge) => edge.near);
    this.near.setAttribute("aria-pressed", String(this.view.state.near));
  }

  async save() {
    const link = el("a", { href: URL.createObjectURL(await this.frontier.png()), download: "hopscope.png" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  destroy() {
    for (const undo of this.undo) undo();
    this.frontier.destroy();
    this.box.remove();
  }
}

function echoPiece(piece, view) {
  if (!("hop" in piece)) return piece.text;
  if (piece.hop === null) return el("span", { class: "word unexplained", title: "nothing explained this word" }, piece.text);
  if (!view.reaches(piece.hop)) return el("span", { class: "word later" }, piece.text);
  return el("span", { class: `word word-${piece.hop}` }, piece.text, hopMark(piece.hop));
}

function edgesOf({ degree }) {
  return degree ? `${degree.toLocaleString("en")} ${degree === 1 ? "edge" : "edges"}` : "";
}

function coloursOf(box) {
  const style = getComputedStyle(box);
  const colour = (property) => style.getPropertyValue(property).trim();
  return {
    hops: [0, 1, 2, 3, 4].map((hop) => colour(`--hop-${hop}`)),
    halo: colour("--halo"),
    background: colour("--st-background-color"),
    raised: colour("--st-secondary-background-color"),
    text: colour("--st-text-color"),
    face: colour("--st-font") || "sans-serif",
  };
}
