// What a person looks at, shared by the components of a page: the step, the selection, the near misses.
// It lives in the browser's page, so a change of it costs no rerun.
//
//   step     0 the seeds, 1..n a hop, n + 1 the result
//   fact, node, document     one selection: a fact, or a node, or a document with the best of its facts
//   near     whether near misses are drawn
//   tab      of the evidence: facts, sources or trace
//
// What differs from the usual stands in the link too, where only the browser reads and writes it.

export const TABS = ["facts", "sources", "trace"];
const IN_LINK = ["step", "fact", "node", "near", "tab"];
const SETTLED = 300; // ms without a change before the link is written

const NOTHING = { fact: null, node: null, document: null };
const views = new Map();

export function viewOf(key) {
  if (!views.has(key)) views.set(key, new View());
  return views.get(key);
}

class View {
  constructor() {
    this.state = { step: 0, near: false, tab: TABS[0], ...NOTHING };
    this.run = null;
    this.listeners = new Set();
    this.wish = new URLSearchParams(window.location.search);
  }

  /** A new run. What was selected stays if it survived, else the top fact; the last step stays the last. */
  load(run) {
    if (this.run?.id === run.id) return this.putInLink();
    const before = this.run;
    this.run = run;
    const { state } = this;
    if (before?.subject !== run.subject) {
      this.set({ ...NOTHING, step: run.lastStep, fact: run.top, ...(before ? {} : this.wished()) });
      return;
    }
    const atLast = state.step === before.lastStep;
    const step = atLast ? run.lastStep : Math.min(state.step, run.lastStep);
    const had = state.fact ?? state.node ?? state.document;
    const survived = run.facts.includes(state.fact) || run.nodes.includes(state.node);
    this.set(had === null || survived ? { step } : { ...NOTHING, step, fact: run.top });
  }

  /** What the link asks for, as far as this run has it. */
  wished() {
    const wish = {};
    const [step, fact, node, near, tab] = IN_LINK.map((name) => this.wish.get(name));
    if (/^\d$/.test(step ?? "") && Number(step) < this.run.lastStep) wish.step = Number(step);
    if (this.run.facts.includes(fact)) Object.assign(wish, { ...NOTHING, fact });
    else if (this.run.nodes.includes(node)) Object.assign(wish, { ...NOTHING, node });
    if (near === "true") wish.near = true;
    if (TABS.includes(tab)) wish.tab = tab;
    return wish;
  }

  /** Once things have settled; never for a page that is left. The server is not told, so nothing is run again. */
  putInLink() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (!this.run || !this.listeners.size) return;
      const { step, fact, node, near, tab } = this.state;
      const query = new URLSearchParams(window.location.search);
      const values = {
        step: step === this.run.lastStep ? null : step,
        fact: fact === this.run.top ? null : fact,
        node,
        near: near || null,
        tab: tab === TABS[0] ? null : tab,
      };
      for (const name of IN_LINK) {
        if (values[name] === null) query.delete(name);
        else query.set(name, values[name]);
      }
      const search = query.size ? `?${query}` : "";
      if (search !== window.location.search) history.replaceState(history.state, "", window.location.pathname + search + window.location.hash);
    }, SETTLED);
  }

  set(change) {
    const before = this.state;
    this.state = { ...before, ...change };
    for (const listener of [...this.listeners]) listener(this.state, before);
    this.putInLink();
  }

  selectFact(fact, document = null) {
    this.set({ ...NOTHING, fact, document });
  }

  selectNode(node) {
    this.set({ ...NOTHING, node });
  }

  clear() {
    this.set(NOTHING);
  }

  moveStep(by) {
    if (!this.run) return;
    this.set({ step: Math.min(this.run.lastStep, Math.max(0, this.state.step + by)) });
  }

  /** Is a thing of this hop, or of the result, shown at the present step? */
  reaches(hop) {
    return hop <= this.state.step;
  }

  get atResult() {
    return this.state.step === this.run?.lastStep;
  }

  onChange(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
