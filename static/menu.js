// A button that opens a menu: arrows, Home and End move in it, Esc and Tab leave it.

import { button, el } from "./dom.js";

/** `items()` gives `{label, checked, pick}` each time it is opened; `checked` only where one of several is. */
export function menu(label, title, items) {
  const list = el("div", { class: "menu-list", role: "menu", "aria-label": title, hidden: true });
  const opener = button(label, () => (list.hidden ? open() : close()), {
    title,
    "aria-label": title,
    "aria-haspopup": "menu",
    "aria-expanded": "false",
  });
  const box = el("span", { class: "menu" }, opener, list);

  function open() {
    list.replaceChildren(...items().map(itemOf));
    list.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    document.addEventListener("pointerdown", closeOutside, true);
    (list.querySelector("[aria-checked=true]") ?? list.firstElementChild).focus();
  }

  function close(refocus = true) {
    list.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", closeOutside, true);
    if (refocus) opener.focus();
  }

  function itemOf({ label, checked, pick }) {
    return button(label, () => (close(), pick()), {
      role: checked === undefined ? "menuitem" : "menuitemradio",
      "aria-checked": checked === undefined ? undefined : String(checked),
      tabindex: "-1",
    });
  }

  function closeOutside(event) {
    if (!event.composedPath().includes(box)) close(false);
  }

  list.addEventListener("keydown", (event) => {
    const all = [...list.children];
    const at = all.indexOf(list.getRootNode().activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to !== undefined) all.at(to % all.length).focus();
    else if (event.key === "Escape") close();
    else if (event.key === "Tab") return close(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  opener.addEventListener("keydown", (event) => {
    if (!["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    open();
  });
  return box;
}
