// The graph component: the question's echo, the steps, the beam frontier, what is picked, the legend.

import { applyTheme, button, el, fillHeight, hopMark, name, refill } from "./dom.js";
import { HELP, focusQuestion, listenForKeys } from "./keys.js";
import { Frontier } from "./network.js";
import { viewOf } from "./view.js";

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
    this.canvas = el("div", { class: "canvas", role: "img" });
    this.picked = el("div", { class: "picked" });
    this.help = el("dl", { class: "help", hidden: true }, HELP.map(([key, does]) => [el("dt", {}, key), el("dd", {}, does)]));
    this.near = button("near miss", () => this.view.set({ near: !this.view.state.near }), { class: "near-toggle" });
    this.box = el(
      "section",
      { class: "panel graph", "aria-label": "Graph" },
      this.echo,
      this.steps,
      this.caption,
      el("div", { class: "stage" }, this.canvas, this.picked, this.help),
      this.legend(),
    );
    root.append(this.box);
    this.frontier = new Frontier(this.canvas, { pick: (node, edge) => this.pick(node, edge) });
    this.undo = [
      fillHeight(this.box, 340),
      this.view.onChange(() => this.render()),
      listenForKeys({
        "/": focusQuestion,
        "[": () => this.view.moveStep(-1),
        "]": () => this.view.moveStep(1),
        Escape: () => this.view.clear(),
      }),
    ];
  }

  legend() {
    const hops = [0, 1, 2, 3, 4].map((hop) => el("span", { class: "key", "data-hop": hop }, hopMark(hop)));
    return el(
      "div",
      { class: "legend" },
      hops,
      this.near,
      el("span", { class: "spring" }),
      button("Fit", () => this.frontier.fit(), { title: "Show the whole graph" }),
      button("PNG", () => this.save(), { title: "Save the graph as a picture" }),
      button("?", () => this.help.toggleAttribute("hidden"), { title: "Keys", "aria-label": "Keys" }),
    );
  }

  show({ data, setTriggerValue }) {
    this.data = data.graph;
    this.trigger = setTriggerValue;
    this.box.dataset.run = data.run.id;
    applyTheme(this.box);
    this.colours = coloursOf(this.box);
    const before = this.view.run;
    this.view.load(data.run);
    if (before?.id === data.run.id) this.render();
  }

  pick(node, edge) {
    if (node !== undefined) this.view.selectNode(node);
    else if (edge !== undefined) this.view.selectFact(edge);
    else this.view.clear();
  }

  render() {
    if (!this.data || this.view.run?.id !== this.box.dataset.run) return;
    const { state } = this.view;
    this.echo.replaceChildren(...this.data.echo.map((piece) => echoPiece(piece, this.view)));
    refill(this.steps, ...this.data.steps.map((step, index) => this.stepButton(step, index)));
    this.caption.textContent = this.data.steps[state.step]?.caption ?? "";
    this.frontier.draw(this.data, this.view, this.colours);
    this.renderPicked(this.data.nodes.find((node) => node.id === state.node));
    this.renderLegend();
    this.canvas.setAttribute("aria-label", `Graph of ${this.frontier.shown.size} entities; the facts are listed beside it`);
  }

  stepButton(step, index) {
    return button(step.label, () => this.view.set({ step: index }), { "aria-pressed": String(this.view.state.step === index) });
  }

  renderPicked(node) {
    const about = node && [node.type, node.degree ? `${node.degree.toLocaleString("en")} edges` : ""].filter(Boolean);
    this.picked.replaceChildren(
      ...(node
        ? [
            el("strong", {}, name(node.name)),
            el("span", { class: "quiet" }, about.map((part) => [" · ", name(part)])),
            button("Add as seed", () => this.trigger("action", { kind: "seed", id: node.id })),
          ]
        : []),
    );
  }

  renderLegend() {
    const hops = new Set(this.data.nodes.map((node) => node.hop));
    for (const key of this.box.querySelectorAll(".key")) key.hidden = !hops.has(Number(key.dataset.hop));
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

function coloursOf(box) {
  const style = getComputedStyle(box);
  const colour = (property) => style.getPropertyValue(property).trim();
  return {
    hops: [0, 1, 2, 3, 4].map((hop) => colour(`--hop-${hop}`)),
    background: colour("--st-background-color"),
    raised: colour("--st-secondary-background-color"),
    text: colour("--st-text-color"),
    face: colour("--st-font") || "sans-serif",
  };
}
