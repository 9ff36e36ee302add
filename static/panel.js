// What a panel with a graph has, whatever it shows: the canvas with its keys, the tools under it, the whole window for it.

import { button, el, fillHeight } from "./dom.js";
import { Find } from "./find.js";
import { menu } from "./menu.js";
import { Frontier } from "./network.js";

const CANVAS_HELP = [
  ["Tab ← ↑ → ↓", "in the graph: from entity to entity"],
  ["Tab +  −  0", "in the graph: closer, wider, all"],
];

/** A panel says what is `selected`, how one is selected (`select`), and what a click does (`pick`). */
export class Panel {
  constructor(help) {
    this.canvas = el("div", { class: "canvas", role: "application", tabindex: "0", onkeydown: (event) => this.walk(event) });
    this.picked = el("div", { class: "picked", "aria-live": "polite" });
    const keys = [...help, ...CANVAS_HELP].map(([key, does]) => [el("dt", {}, key), el("dd", {}, does)]);
    this.help = el("dl", { class: "help", hidden: true }, keys);
    this.stage = el("div", { class: "stage" }, this.canvas, this.picked, this.help);
    this.find = new Find({
      named: () => this.data.nodes.filter(({ id }) => this.frontier.shown.has(id)),
      go: ({ id }) => this.come(id),
    });
  }

  /** Puts these parts into `root`, the stage among them; `undo` gets what ends it. */
  putUp(root, kind, ...parts) {
    const attributes = { class: `panel ${kind}`, "aria-label": "Graph", onkeydown: (event) => this.keepFocus(event) };
    this.box = el("section", attributes, ...parts);
    root.append(this.box);
    this.frontier = new Frontier(this.canvas, { pick: (at) => this.pick(at) });
    this.undo = [fillHeight(this.box, this.least ?? 340)];
  }

  /** The tools; `items()` are those of the menu, which is not there without them. */
  tools(menuTitle, items) {
    const named = (title) => ({ title, "aria-label": title });
    this.wider = button("⤢", () => this.expand(!this.expanded), { ...named("Expand"), "aria-pressed": "false" });
    return el(
      "div",
      { class: "tools" },
      this.find.box,
      button("⌂", () => this.frontier.fit(), named("Show the whole graph")),
      this.wider,
      button("PNG", () => this.save(), { title: "Save the graph as a picture" }),
      items && menu("⋯", menuTitle, items),
      button("?", () => this.toggleHelp(), { ...named("Keys"), "aria-expanded": "false" }),
    );
  }

  /** Selects an entity and puts it into the middle. */
  come(id) {
    this.select(id);
    this.frontier.centre(id);
  }

  /** The keys of a graph that was come to by Tab; one that was clicked leaves the arrows to the page. */
  walk(event) {
    if (event.target !== this.canvas || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow")) {
      const id = this.frontier.next(this.selected, event.key);
      if (id === undefined) return;
      this.select(id);
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

  nameCanvas(rest) {
    const count = this.frontier.shown.size;
    this.canvas.setAttribute("aria-label", `Graph of ${count} ${count === 1 ? "entity" : "entities"}; ${rest}`);
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

/** `63 edges`, "" for none or where it is not known. */
export function edgesOf({ degree }) {
  return degree ? `${degree.toLocaleString("en")} ${degree === 1 ? "edge" : "edges"}` : "";
}

/** The theme's colours for the canvas; `hops` are those of the properties with these names. */
export function coloursOf(box, names) {
  const style = getComputedStyle(box);
  const colour = (property) => style.getPropertyValue(property).trim();
  return {
    hops: names.map(colour),
    halo: colour("--halo"),
    background: colour("--st-background-color"),
    raised: colour("--st-secondary-background-color"),
    text: colour("--st-text-color"),
    face: colour("--st-font") || "sans-serif",
  };
}
