// The evidence component: facts, sources and the trace in tabs, and the source that is always open beneath.

import { applyTheme, button, el, fillHeight, refill, reveal } from "./dom.js";
import { FactList } from "./facts.js";
import { listenForKeys } from "./keys.js";
import { openDocument, sourceList, sourcePane } from "./sources.js";
import { TraceTable } from "./trace.js";
import { TABS, viewOf } from "./view.js";

const panels = new WeakMap();

/** Shows one run; called again with each new one. `data` is `{view, run, evidence}`. */
export default function evidence(component) {
  const { parentElement } = component;
  if (!panels.has(parentElement)) panels.set(parentElement, new EvidencePanel(parentElement, component.data.view));
  panels.get(parentElement).show(component);
  return () => {
    panels.get(parentElement)?.destroy();
    panels.delete(parentElement);
  };
}

class EvidencePanel {
  constructor(root, viewKey) {
    this.view = viewOf(viewKey);
    this.tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Evidence" });
    this.pane = el("div", { class: "pane", role: "tabpanel", tabindex: "0" });
    this.source = el("section", { class: "source", "aria-label": "Source" });
    this.box = el("section", { class: "panel evidence", "aria-label": "Evidence" }, this.tabs, this.pane, this.source);
    root.append(this.box);
    this.facts = new FactList(this.view, { setBeam: (beam) => this.trigger("action", { kind: "beam", beam }) });
    this.trace = new TraceTable(this.view);
    this.why = { facts: false, sources: true, trace: false };
    this.undo = [
      fillHeight(this.box, 340),
      this.view.onChange(() => this.render()),
      listenForKeys({
        ArrowDown: () => this.facts.move(1),
        ArrowUp: () => this.facts.move(-1),
      }),
    ];
  }

  show({ data, setTriggerValue }) {
    this.data = data.evidence;
    this.trigger = setTriggerValue;
    this.box.dataset.run = data.run.id;
    applyTheme(this.box);
    this.facts.load(this.data);
    this.trace.load(this.data);
    const before = this.view.run;
    this.view.load(data.run);
    if (before?.id === data.run.id) this.render();
  }

  render() {
    if (!this.data || this.view.run?.id !== this.box.dataset.run) return;
    this.renderTabs();
    const { tab } = this.view.state;
    this.box.dataset.tab = tab;
    if (tab === "facts") this.facts.renderInto(this.pane);
    else if (tab === "sources") refill(this.pane, sourceList(this.data, this.view));
    else this.trace.renderInto(this.pane);
    const open = (document) => openDocument(this.box, document, this.data, this.view);
    refill(this.source, ...sourcePane(this.data, this.view, this.facts.active, this.why, open));
    const said = this.source.querySelector("mark");
    if (said && !this.source.querySelector("details[open]")) reveal(said, said.closest(".body"));
  }

  renderTabs() {
    const counts = { facts: this.facts.shown.length, sources: this.data.sources.length };
    refill(
      this.tabs,
      ...TABS.map((tab) => {
        const label = tab[0].toUpperCase() + tab.slice(1) + (tab in counts ? ` ${counts[tab]}` : "");
        return button(label, () => this.open(tab), {
          role: "tab",
          "aria-selected": String(tab === this.view.state.tab),
          tabindex: tab === this.view.state.tab ? "0" : "-1",
          onkeydown: (event) => this.moveTab(event),
        });
      }),
      this.warnings(),
    );
    this.pane.setAttribute("aria-label", this.view.state.tab);
  }

  /** What the run had to do without, in a word; the trace has all of it. */
  warnings() {
    const { warnings } = this.data.trace;
    if (!warnings.length) return "";
    const more = warnings.length > 1 ? ` +${warnings.length - 1}` : "";
    const label = [el("span", { class: "text" }, warnings[0]), more];
    return button(label, () => this.open("trace"), { class: "degraded", title: warnings.join("\n") });
  }

  open(tab) {
    this.view.set({ tab });
    this.pane.scrollTop = 0;
  }

  moveTab(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.open(TABS[(TABS.indexOf(this.view.state.tab) + by + TABS.length) % TABS.length]);
    this.tabs.querySelector("[aria-selected=true]").focus();
  }

  destroy() {
    for (const undo of this.undo) undo();
    this.box.remove();
  }
}
