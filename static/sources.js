// The source that a fact is said in, and the list of all of them.

import { button, el, name } from "./dom.js";

export function sourceList({ sources }, view) {
  if (!sources.length) return el("p", { class: "empty" }, "No source texts.");
  return el("ol", { class: "sources" }, sources.map((source) => el("li", {}, sourceRow(source, view))));
}

function sourceRow(source, view) {
  const facts = source.facts.length;
  const select = () => view.selectFact(source.facts[0] ?? null, source.id);
  return el(
    "button",
    { type: "button", class: "row", "aria-pressed": String(view.state.document === source.id), onclick: select },
    el("span", { class: "says" }, el("b", {}, name(source.title))),
    el("span", { class: "details quiet" }, [source.about, `${facts} ${facts === 1 ? "fact" : "facts"}`].filter(Boolean).join(" · ")),
  );
}

/** The document selected, else the first that asserts the fact; the sentence that says it is marked. */
export function sourcePane({ sources }, view, fact, open) {
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
    el("p", { class: "text", dir: "auto", tabindex: "0" }, marked(shown.content, fact?.said[shown.id])),
    el("footer", {}, button("Open document", () => open(shown), { "aria-haspopup": "dialog" })),
  ];
}

/** All that the run holds of a document, over the page: its metadata, its text, the facts that it asserts. */
export function openDocument(box, document) {
  const dialog = el(
    "dialog",
    { class: "document", "aria-label": "Document" },
    el("header", {}, el("b", { class: "title" }, name(document.title)), button("Close", () => dialog.close())),
    el("dl", {}, document.properties.map(([property, value]) => [el("dt", {}, name(property)), el("dd", {}, name(value))])),
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
