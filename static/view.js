// What a person looks at, shared by the components of a page: the step, the selection, the near misses.
// It lives in the browser's page, so a change of it costs no rerun.
//
//   step     0 the seeds, 1..n a hop, n + 1 the result
//   fact, node, document     one selection: a fact, or a node, or a document with the best of its facts
//   near     whether near misses are drawn

const NOTHING = { fact: null, node: null, document: null };
const views = new Map();

export function viewOf(key) {
  if (!views.has(key)) views.set(key, new View());
  return views.get(key);
}

class View {
  constructor() {
    this.state = { step: 0, near: false, ...NOTHING };
    this.run = null;
    this.listeners = new Set();
  }

  /** A new run. What was selected stays if it survived, else the top fact; the last step stays the last. */
  load(run) {
    if (this.run?.id === run.id) return;
    const before = this.run;
    this.run = run;
    const { state } = this;
    if (before?.subject !== run.subject) {
      this.set({ ...NOTHING, step: run.lastStep, fact: run.top });
      return;
    }
    const atLast = state.step === before.lastStep;
    const step = atLast ? run.lastStep : Math.min(state.step, run.lastStep);
    const had = state.fact ?? state.node ?? state.document;
    const survived = run.facts.includes(state.fact) || run.nodes.includes(state.node);
    this.set(had === null || survived ? { step } : { ...NOTHING, step, fact: run.top });
  }

  set(change) {
    const before = this.state;
    this.state = { ...before, ...change };
    for (const listener of [...this.listeners]) listener(this.state, before);
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
