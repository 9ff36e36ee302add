// Finds drawn entities by a part of their name, whatever its case and accents. Enter goes on, Shift+Enter back.

import { el } from "./dom.js";

/** `named()` gives the drawn nodes, in order; `go(node)` is called for each that is come to. */
export class Find {
  constructor({ named, go }) {
    Object.assign(this, { named, go, at: -1 });
    this.input = el("input", {
      type: "search",
      placeholder: "Find",
      "aria-label": "Find in the graph",
      oninput: () => this.typed(),
      onkeydown: (event) => this.key(event),
    });
    this.count = el("span", { class: "count", role: "status" });
    this.box = el("span", { class: "find" }, this.input, this.count);
  }

  get matches() {
    const wanted = folded(this.input.value.trim());
    return wanted ? this.named().filter(({ name }) => folded(name).includes(wanted)) : [];
  }

  typed() {
    this.at = -1;
    this.render();
  }

  key(event) {
    event.stopPropagation(); // the page has keys of its own, which must not see what is typed
    if (event.key === "Enter") this.move(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && this.input.value) this.clear();
    else if (event.key === "Escape") this.input.blur();
    else return;
    event.preventDefault();
  }

  move(by) {
    const { matches } = this;
    if (matches.length) {
      this.at = this.at < 0 && by < 0 ? matches.length - 1 : (this.at + by + matches.length) % matches.length;
      this.go(matches[this.at]);
    }
    this.render();
  }

  clear() {
    this.input.value = "";
    this.typed();
  }

  /** What is drawn may have changed: the count follows, and what was come to keeps its number. */
  render(node = null) {
    const { matches } = this;
    if (node !== null && this.at >= 0) this.at = matches.findIndex(({ id }) => id === node);
    const at = this.at < 0 || this.at >= matches.length ? "" : `${this.at + 1}/`;
    const count = this.input.value.trim() ? `${at}${matches.length}` : "";
    if (this.count.textContent !== count) this.count.textContent = count;
  }
}

function folded(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
