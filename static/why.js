// Why a source passage stands where it does: what it was found by, and what each signal adds to its score.

import { button, el, name } from "./dom.js";

const SIGNALS = { path: "path", near: "nearness", pageRank: "PageRank" };

/** In plain words, short. `passages` is how many were weighed and picked. */
export function whyLine({ facts, why }, passages) {
  const by = listed(strengths(why));
  const words = why.words.length ? `explains ${why.words.join(", ")}` : "";
  if (!why.picked) return [notPicked(passages), facts.length ? "here for its facts" : ""].filter(Boolean).join(", ");
  if (!facts.length) return [`no fact of this run, found by ${by || "the words it covers"}`, words].filter(Boolean).join(" · ");
  return [`for its ${by || "words"}`, words].filter(Boolean).join(" · ");
}

/** All of it; `select` shows the fact that its best path leads to. */
export function whyList({ why }, passages, select) {
  const rows = [
    ["Path", [path(why, select), adds(why.path)]],
    ["Nearness", [why.near.value === null ? "it has no vector" : `cosine ${why.near.value.toFixed(3)}`, adds(why.near)]],
    ["PageRank", [`share ${why.pageRank.value.toFixed(4)}`, adds(why.pageRank)]],
    ["Newly explains", [explained(why, passages)]],
    ["Score", [`${why.score.toFixed(2)}, rank ${why.rank} of ${passages.weighed} weighed`]],
  ];
  return el("dl", {}, rows.map(([term, says]) => [el("dt", {}, term), el("dd", {}, says)]));
}

/** The signals that speak for it, the strongest first. */
function strengths(why) {
  const signals = Object.keys(SIGNALS).filter((signal) => why[signal].adds > 0);
  return signals.sort((one, other) => why[other].adds - why[one].adds).map((signal) => SIGNALS[signal]);
}

function path({ path: { value }, fact, factId }, select) {
  if (fact === null) return "no fact that was looked at stands in it";
  const leads = factId ? button(name(fact), () => select(factId), { class: "fact", title: "Show this fact" }) : fact ? name(fact) : "a fact";
  return [`${value.toFixed(3)} to `, leads, !factId && ", which the beam cut"];
}

function explained({ picked, gain, words }, passages) {
  if (!picked) return notPicked(passages);
  const said = words.length ? words.join(", ") : "no new words";
  return gain ? `${said} · ${(100 * gain).toFixed(1)}% of the question beyond those picked before` : said;
}

function adds(signal) {
  return el("span", { class: "adds" }, `adds ${signal.adds < 0 ? "−" : "+"}${Math.abs(signal.adds).toFixed(2)}`);
}

function notPicked({ picked }) {
  return `not among the ${picked === 10 ? "ten" : picked} picked`;
}

function listed(words) {
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words.join("");
}
