// Elements from text: whatever is given as a child becomes a text node, never markup.

export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = value; // a page may forbid the attribute
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false && child !== ""));
  return element;
}

export function button(label, onclick, attributes = {}) {
  return el("button", { type: "button", onclick, ...attributes }, label);
}

/** A name from the graph, in its own direction of writing. */
export function name(text) {
  return el("bdi", {}, text);
}

/** The mark of a hop: a diamond for a seed, else a disc with the hop's digit. */
export function hopMark(hop) {
  const label = hop === 0 ? "seed" : `hop ${hop}`;
  return el("span", { class: `mark mark-${hop}`, role: "img", "aria-label": label }, hop === 0 ? "" : String(hop));
}

/** Puts new children into `container`; the button that had the focus has it again, known by its place. */
export function refill(container, ...children) {
  const focused = container.getRootNode().activeElement;
  const at = [...container.querySelectorAll("button")].indexOf(focused);
  container.replaceChildren(...children);
  if (at >= 0) container.querySelectorAll("button")[at]?.focus({ preventScroll: true });
}

/** Scrolls `pane` the least that brings `element` into its sight; what is around it stays where it is. */
export function reveal(element, pane) {
  const [inner, outer] = [element, pane].map((one) => one.getBoundingClientRect());
  if (inner.top < outer.top) pane.scrollTop += inner.top - outer.top;
  else if (inner.bottom > outer.bottom) pane.scrollTop += Math.min(inner.bottom - outer.bottom, inner.top - outer.top);
}

/** Makes `element` reach from where it stands to the foot of the window; returns what undoes it. */
export function fillHeight(element, least) {
  const fill = () => {
    const top = element.getBoundingClientRect().top + (document.scrollingElement?.scrollTop ?? 0);
    const height = `${Math.max(least, Math.floor(window.innerHeight - top - 10))}px`;
    if (element.style.height !== height) element.style.height = height;
  };
  fill();
  const page = element.getRootNode().host?.closest('[data-testid="stMainBlockContainer"]') ?? document.body;
  const watcher = new ResizeObserver(fill);
  watcher.observe(page);
  window.addEventListener("resize", fill);
  return () => {
    watcher.disconnect();
    window.removeEventListener("resize", fill);
  };
}

/** The theme is known by its background: the page's own setting is not told to a component. */
export function applyTheme(element) {
  const probe = el("span", { style: "color: var(--st-background-color)" });
  element.append(probe);
  const [red, green, blue] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  element.classList.toggle("dark", 0.299 * red + 0.587 * green + 0.114 * blue < 128);
}
