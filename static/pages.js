// Links from a component to another page of the app.

import { el } from "./dom.js";

/** A plain click goes there within the session, as the app's own links do; otherwise it is a link like any. */
export function pageLink(label, page, query) {
  const href = new URL(`${page}?${new URLSearchParams(query)}`, document.baseURI).href;
  const go = (event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    history.pushState({}, "", href);
    window.dispatchEvent(new PopStateEvent("popstate")); // the app looks where it is, and runs that page
  };
  return el("a", { href, onclick: go }, label);
}
