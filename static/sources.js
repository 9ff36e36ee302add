// The source that a fact is said in, and the list of all of them.

import { button, el, name } from "./dom.js";
import { whyLine, whyList } from "./why.js";

export function sourceList({ sources, trace }, view) {
  if (!sources.length) return el("p", { class: "empty" }, "No source texts.");
  return el("ol", { class: "sources" }, sources.map((source) => el("li", {}, sourceRow(source, trace.passages, view))));
}

function sourceRow(source, passages, view) {
  const facts = source.facts.length;
  const select = () => view.selectFact(source.facts[0] ?? null, source.id);
  return el(
    "button",
    { type: "button", class: source.why ? "row ranked" : "row", "aria-pressed": String(view.state.document === source.id), onclick: select },
    el("span", { class: "says" }, source.why && el("span", { class: "rank" }, String(source.why.rank)), el("b", {}, name(source.title))),
    el("span", { class: "details quiet" }, [source.about, `${facts} ${facts === 1 ? "fact" : "facts"}`].filter(Boolean).join(" · ")),
    source.why && el("span", { class: "details quiet" }, el("span", { class: "why-line" }, whyLine(source, passages))),
  );
}

/** The document selected, else the first that asserts the fact; the sentence that says it is marked.
 *
 * `why` says for each tab whether the reasons are unfolded under it. */
export function sourcePane({ sources, trace }, view, fact, why, open) {
  const { document } = view.state;
  const asserting = sources.filter((source) => fact?.documents.includes(source.id));
  const shown = sources.find((source) => source.id === document) ?? asserting[0];
  if (!shown) return [el("p", { class: "empty" }, nothingShown(fact))];
  return [
    el(
      "header",
      {},
      el("b", { class: "title" }, name(shown.title)),
      el("span", { class: "quiet" }, shown.about),
      asserting.length > 1 && stepper(asserting, shown, view, fact),
    ),
    el(
      "div",
      { class: "body", tabindex: "0" },
      shown.why && reasons(shown, trace.passages, view, why),
      el("p", { class: "text", dir: "auto" }, marked(shown.content, fact?.said[shown.id])),
    ),
    el("footer", {}, button("Open document", () => open(shown), { "aria-haspopup": "dialog" })),
  ];
}

function reasons(shown, passages, view, why) {
  const { tab } = view.state;
  const unfolded = (event) => (why[tab] = event.target.open);
  return el(
    "details",
    { class: "why", open: why[tab], ontoggle: unfolded },
    el("summary", {}, el("b", {}, "Why this passage"), el("span", { class: "quiet" }, whyLine(shown, passages))),
    whyList(shown, passages, (fact) => view.selectFact(fact, shown.id)),
  );
}

/** All that the run holds of a document, over the page: its metadata, why it is there, its text. */
export function openDocument(box, document, { trace }, view) {
  const select = (fact) => {
    dialog.close();
    view.selectFact(fact, document.id);
  };
  const dialog = el(
    "dialog",
    { class: "document", "aria-label": "Document" },
    el("header", {}, el("b", { class: "title" }, name(document.title)), button("Close", () => dialog.close())),
    el("dl", {}, document.properties.map(([property, value]) => [el("dt", {}, name(property)), el("dd", {}, name(value))])),
    document.why &&
      el(
        "section",
        { class: "why" },
        el("b", {}, "Why this passage"),
        el("p", { class: "quiet" }, whyLine(document, trace.passages)),
        whyList(document, trace.passages, select),
      ),
    el("p", { class: "text", dir: "auto", tabindex: "0" }, document.content),
    el("footer", { class: "quiet" }, `${document.facts.length} ${document.facts.length === 1 ? "fact" : "facts"} of this run stand in it.`),
  );
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  box.append(dialog);
  dialog.showModal();
}

function nothingShown(fact) {
  if (fact?.left) return "This fact left the result: its source is not among those of this run.";
  if (!fact) return "Select a fact to see where it is said.";
  return fact.documents.length ? "The text of this fact's document is not in this graph." : "No document is given for this fact.";
}

function stepper(asserting, shown, view, fact) {
  const at = asserting.indexOf(shown);
  const go = (by) => {
    const next = asserting[(at + by + asserting.length) % asserting.length];
    view.set({ document: next.id, fact: fact.id });
  };
  return el(
    "span",
    { class: "stepper" },
    button("‹", () => go(-1), { "aria-label": "Previous document" }),
    `${at + 1}/${asserting.length}`,
    button("›", () => go(1), { "aria-label": "Next document" }),
  );
}

function marked(content, said) {
  if (!said) return [content];
  const [start, end] = said;
  return [content.slice(0, start), el("mark", {}, content.slice(start, end)), content.slice(end)];
}
