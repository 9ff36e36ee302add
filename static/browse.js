// The graph of Browse: what a person explored. Colour and letter are an entity's type; the page keeps what was done.

import { applyTheme, button, el, name, refill } from "./dom.js";
import { listenForKeys } from "./keys.js";
import { Panel, coloursOf, edgesOf } from "./panel.js";

const HELP = [
  ["/", "to the search"],
  ["Enter", "more facts of what is selected"],
  ["p  Delete", "pin it, hide it"],
  ["Esc", "clear the selection"],
];
const FIXED_HELP = HELP.filter(([keys]) => keys === "Esc");
const COLOURS = [...[0, 1, 2, 3, 4, 5, 6, 7].map((type) => `--type-${type}`), "--type-rest", "--fact"];
const SETTLED = 250; // ms after which the page is told of what the keys selected
const panels = new WeakMap();

/** Draws one picture; called again with each new one. `data` is `{subject, selected, growth, fixed, graph}`: what is
 * `fixed` can be looked at and selected in, and not grown. */
export default function browse(component) {
  const { parentElement } = component;
  if (!panels.has(parentElement)) panels.set(parentElement, new BrowsePanel(parentElement, component.data.fixed));
  panels.get(parentElement).show(component);
  return () => {
    panels.get(parentElement)?.destroy();
    panels.delete(parentElement);
  };
}

class BrowsePanel extends Panel {
  constructor(root, fixed) {
    super(fixed ? FIXED_HELP : HELP);
    this.fixed = fixed;
    this.least = fixed ? 460 : 340; // below a table and an editor it may be longer than the window
    // What `sceneOf` asks of a view: nothing here has a hop, so all is always reached.
    this.view = { state: { node: null, fact: null, near: false }, run: null, reaches: () => true, atResult: false };
    this.types = el("div", { class: "types", role: "group", "aria-label": "Types: colour and letter" });
    this.relations = el("div", { class: "types", role: "group", "aria-label": "Relations" });
    const legend = el("div", { class: "legend" }, el("span", { class: "quiet" }, "Colour is the type"), this.tools("More", fixed ? null : () => this.items()));
    this.putUp(root, "browse", this.stage, this.types, this.relations, legend);
    this.undo.push(
      listenForKeys({
        ...(fixed ? {} : { "/": focusSearch }),
        Escape: () => (this.expanded ? this.expand(false) : this.select(null)),
        p: () => this.fixed || this.at((id) => this.act("pin", id)),
        Delete: () => this.fixed || this.at((id) => this.act("hide", id)),
      }),
    );
  }

  get selected() {
    return this.view.state.node;
  }

  show({ data, setTriggerValue }) {
    Object.assign(this, { data: data.graph, growth: data.growth, trigger: setTriggerValue });
    this.view.run = { subject: data.subject };
    if (data.selected !== this.told) this.view.state = { node: data.selected, fact: null, near: false };
    this.told = data.selected;
    applyTheme(this.box);
    this.colours = coloursOf(this.box, COLOURS);
    this.render();
  }

  act(kind, id) {
    clearTimeout(this.timer);
    this.trigger("action", { kind, id });
  }

  at(action) {
    const { node } = this.view.state;
    if (node !== null) action(node);
  }

  /** A second click on an entity brings more of its facts. */
  pick({ node, edge }) {
    if (edge !== undefined && node === undefined) this.look({ node: null, fact: edge });
    else if (node !== undefined && node === this.selected) this.grow(node);
    else this.select(node ?? null);
  }

  grow(id) {
    if (!this.fixed && this.nodeOf(id)?.aside) this.act("grow", id);
  }

  walk(event) {
    if (event.key === "Enter" && event.target === this.canvas) this.at((id) => this.grow(id));
    super.walk(event);
  }

  select(id) {
    this.look({ node: id, fact: null });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.told === id) return;
      this.told = id;
      this.act("pick", id);
    }, id === null || this.canvas !== this.canvas.getRootNode().activeElement ? 0 : SETTLED);
  }

  look(state) {
    this.view.state = { ...this.view.state, ...state };
    this.render();
  }

  nodeOf(id) {
    return this.data.nodes.find((node) => node.id === id);
  }

  items() {
    return [{ label: "Tidy", pick: () => this.act("tidy", "") }];
  }

  render() {
    const { node, fact } = this.view.state;
    this.view.labelled = this.data.edges.filter(({ from, to }) => from === node || to === node).length <= 12;
    this.frontier.draw(this.data, this.view, this.colours);
    this.renderPicked(this.nodeOf(node), this.data.edges.find(({ id }) => id === fact));
    refill(this.types, ...this.data.types.map((type) => this.key("type", type, typeMark(type))));
    refill(this.relations, ...this.data.relations.map((relation) => this.key("relation", relation, "")));
    this.find.render(node);
    this.nameCanvas("what is selected is described beside it");
  }

  key(kind, { key, name: label, count, on }, mark) {
    const title = on ? `Leave ${label} out` : `Draw ${label} again`;
    return button([mark, name(label), " ", String(count)], () => this.act(kind, key), { "aria-pressed": String(on), title });
  }

  renderPicked(node, fact) {
    if (fact) return refill(this.picked, el("span", {}, name(fact.says)));
    if (!node) return refill(this.picked);
    const about = [node.type, edgesOf(node)].filter(Boolean);
    refill(
      this.picked,
      el("strong", {}, name(node.name)),
      el("span", { class: "quiet" }, about.map((part) => [" · ", name(part)])),
      ...(this.fixed ? [] : this.changes(node)),
    );
  }

  changes(node) {
    return [
      node.aside ? button(`+${this.growth}`, () => this.grow(node.id), { title: "More of its facts" }) : "",
      button(node.pinned ? "Unpin" : "Pin", () => this.act("pin", node.id)),
      button("Hide", () => this.act("hide", node.id)),
    ];
  }

  destroy() {
    clearTimeout(this.timer);
    super.destroy();
  }
}

function typeMark({ colour, mark }) {
  return el("span", { class: `mark type-${colour}`, "aria-hidden": "true" }, mark);
}

function focusSearch() {
  const input = document.querySelector(".st-key-browse_search input");
  input?.focus();
  input?.select();
}
