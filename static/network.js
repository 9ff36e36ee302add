// The beam frontier on a canvas. Places come with the data and are never computed here.
// vis-network keeps the viewport, and draws the lines of a graph that is not large; boxes, and the lines of a large
// graph, are painted here, so that a step or a selection changes nothing that the network holds.

import { HEIGHT, READABLE, boxesOf, isInside, paintBoxes, paintHalos } from "./boxes.js";
import { el } from "./dom.js";
import { isInSight, lineAt, paintLabels, paintLines, styledEdge } from "./lines.js";
import { indexOf, sceneOf } from "./look.js";
import { DataSet, Network } from "./vis-network/vis-network.min.mjs";

const CLEAR = "rgba(0, 0, 0, 0)";
const OPTIONS = {
  autoResize: false,
  physics: false,
  layout: { improvedLayout: false },
  interaction: { dragNodes: false, hover: false, selectable: false },
  nodes: { shape: "box", borderWidth: 0, chosen: false, color: { background: CLEAR, border: CLEAR } },
  edges: { chosen: false, arrowStrikethrough: false, arrows: { to: { enabled: true, scaleFactor: 0.5 } } },
};
const EMPTY_LABEL = 14; // the side of a box without a label, to which its margins are added
const LARGE = 800; // lines; with more, those that do not stand out are painted as plain strokes
const PADDING = { top: 12, right: 16, bottom: 36, left: 16 }; // what was picked is shown at the foot
const TOOLTIP_DELAY = 150;
const AHEAD = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Where each subject was looked at, for the life of the browser's page: a remount finds it again. */
const viewports = new Map();

export class Frontier {
  constructor(canvas, { pick }) {
    this.canvas = canvas;
    canvas.frontier = this; // so that a test, or a person at the console, can ask where a node is
    this.nodes = new DataSet();
    this.edges = new DataSet();
    this.sent = new Map([this.nodes, this.edges].map((set) => [set, new Map()]));
    this.hovered = {};
    this.closest = 1;
    this.network = new Network(canvas, { nodes: this.nodes, edges: this.edges }, OPTIONS);
    canvas.querySelector(".vis-network").tabIndex = -1; // the canvas around it takes the keys
    this.tooltip = el("div", { class: "vis-tooltip", "aria-hidden": "true" });
    canvas.append(this.tooltip);
    this.network.on("click", ({ pointer }) => pick(this.at(pointer.DOM)));
    this.network.on("beforeDrawing", (context) => this.paintUnder(context));
    this.network.on("afterDrawing", (context) => this.paintOver(context));
    this.network.on("zoom", () => this.keepViewport(false));
    this.network.on("dragStart", () => this.hover(null));
    this.network.on("dragEnd", () => this.keepViewport(false));
    canvas.addEventListener("pointermove", (event) => this.follow(event));
    canvas.addEventListener("pointerleave", () => this.hover(null));
    this.watcher = new ResizeObserver(() => this.resized());
    this.watcher.observe(canvas);
    document.fonts.ready.then(() => this.remeasure());
  }

  /** Draws a run as the view wants to see it. Only what changed is handed to the network, which draws once. */
  draw(data, view, colours) {
    this.colours = colours;
    this.view = view;
    if (this.data !== data) this.load(data);
    this.scene = sceneOf(this.index, view);
    this.lines = [...this.scene.edges].map(([id, look]) => {
      const edge = this.index.edges.get(id);
      return { edge, look, from: this.boxes.get(edge.from), to: this.boxes.get(edge.to) };
    });
    this.hand(() => {
      this.updateNodes();
      this.updateEdges();
      this.place();
    });
  }

  /** The ids of the entities that are drawn. */
  get shown() {
    return new Set(this.scene.nodes.keys());
  }

  load(data) {
    const before = this.boxes ?? new Map();
    Object.assign(this, { data, index: indexOf(data), large: data.edges.length > LARGE, fresh: true });
    this.boxes = boxesOf(data.nodes, this.colours.face);
    this.moved = [...this.boxes].some(([id, { x, y }]) => {
      const there = before.get(id);
      return there && (there.x !== x || there.y !== y);
    });
  }

  /** The network draws at each change that it is handed; several are drawn together, in the next frame. */
  hand(changes) {
    const { emitter } = this.network.body;
    emitter.emit("_blockRedraw");
    changes();
    emitter.emit("_allowRedraw");
    emitter.emit("_requestRedraw");
  }

  /** With the page's own letters, once they are there. */
  remeasure() {
    if (!this.data) return;
    this.boxes = boxesOf(this.data.nodes, this.colours.face);
    this.draw(this.data, this.view, this.colours);
  }

  updateNodes() {
    const items = [...this.boxes].map(([id, { x, y, width }]) => {
      const [side, above] = [(width - EMPTY_LABEL) / 2, (HEIGHT - EMPTY_LABEL) / 2];
      return { id, x, y, margin: { top: above, right: side, bottom: above, left: side } };
    });
    this.update(this.nodes, items);
  }

  updateEdges() {
    const lines = this.large ? this.lines.filter((line) => this.isLabelled(line)) : this.lines;
    const items = lines.map((line) => {
      const look = { ...line.look, labelled: this.isLabelled(line) };
      return styledEdge(line.edge, look, this.large ? "force" : this.data.layout, this.colours);
    });
    this.update(this.edges, items);
  }

  update(set, items) {
    const before = this.sent.get(set);
    const sent = new Map(items.map((item) => [item.id, JSON.stringify(item)]));
    this.sent.set(set, sent);
    const changed = items.filter(({ id }) => sent.get(id) !== before.get(id));
    const gone = [...before.keys()].filter((id) => !sent.has(id));
    if (gone.length) set.remove(gone);
    if (changed.length) set.update(changed);
  }

  paintUnder(context) {
    if (!this.scene) return;
    paintHalos(context, this.inSight(), this.colours);
    if (!this.large) return;
    const sight = this.sight();
    const lines = this.lines.filter((line) => !this.edges.get(line.edge.id) && isInSight(line, sight));
    paintLines(context, lines, this.colours, this.network.getScale());
  }

  paintOver(context) {
    if (!this.scene) return;
    const scale = this.network.getScale();
    paintLabels(context, this.lines.filter((line) => this.isLabelled(line)), this.colours, scale);
    paintBoxes(context, this.inSight(), this.colours, scale);
  }

  isLabelled({ edge, look }) {
    return look.labelled || edge.id === this.hovered.edge;
  }

  /** The part of the graph that the window shows. */
  sight() {
    const { x: left, y: top } = this.network.DOMtoCanvas({ x: 0, y: 0 });
    const { x: right, y: bottom } = this.network.DOMtoCanvas({ x: this.canvas.clientWidth, y: this.canvas.clientHeight });
    return { left, top, right, bottom };
  }

  inSight() {
    if (!this.scene) return [];
    const { left, top, right, bottom } = this.sight();
    const seen = [];
    for (const [id, look] of this.scene.nodes) {
      const box = this.boxes.get(id);
      if (box.x + box.width < left || box.x - box.width > right || box.y + HEIGHT < top || box.y - HEIGHT > bottom) continue;
      seen.push({ node: this.index.nodes.get(id), box, look });
    }
    return seen.sort((one, other) => one.look.picked - other.look.picked);
  }

  /** What is at a point of the canvas: `{node}`, else `{edge}`, else `{}`. */
  at(dom) {
    const point = this.network.DOMtoCanvas(dom);
    const node = [...this.scene.nodes.keys()].reverse().find((id) => isInside(this.boxes.get(id), point));
    if (node !== undefined) return { node };
    const edge = this.large ? lineAt(this.lines, point, 8 / this.network.getScale())?.edge.id : this.network.getEdgeAt(dom);
    return edge === undefined ? {} : { edge };
  }

  /** Asks once a frame what the pointer is on. */
  follow({ clientX, clientY, buttons }) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const asked = this.pointer !== undefined;
    this.pointer = buttons ? null : { x: clientX - left, y: clientY - top };
    if (asked) return;
    requestAnimationFrame(() => {
      const { pointer } = this;
      this.pointer = undefined;
      if (this.scene) this.hover(pointer);
    });
  }

  hover(pointer) {
    const on = pointer ? this.at(pointer) : {};
    const edge = this.hovered.edge;
    if (on.node === this.hovered.node && on.edge === edge) return;
    this.hovered = on;
    this.canvas.style.cursor = on.node ?? on.edge ? "pointer" : "";
    clearTimeout(this.timer);
    this.tooltip.style.visibility = "hidden";
    if (on.node ?? on.edge) this.timer = setTimeout(() => this.tell(on, pointer), TOOLTIP_DELAY);
    if (on.edge !== edge) this.hand(() => this.updateEdges());
  }

  tell({ node, edge }, { x, y }) {
    const { tooltip, canvas } = this;
    tooltip.textContent = (this.index.nodes.get(node) ?? this.index.edges.get(edge))?.title ?? "";
    const above = y + 16 + tooltip.offsetHeight > canvas.clientHeight;
    tooltip.style.left = `${Math.max(0, Math.min(x + 12, canvas.clientWidth - tooltip.offsetWidth))}px`;
    tooltip.style.top = `${Math.max(0, above ? y - 8 - tooltip.offsetHeight : y + 16)}px`;
    tooltip.style.visibility = "visible";
  }

  get viewport() {
    return viewports.get(this.subject);
  }

  keepViewport(auto) {
    viewports.set(this.subject, { position: this.network.getViewPosition(), scale: this.network.getScale(), auto });
  }

  /** Looks where the person last looked; before that, at everything, again whenever something new lies outside. */
  place() {
    if (!this.canvas.clientWidth || !this.data) return;
    const subject = `${this.view.run.subject} ${this.data.layout}`;
    const known = viewports.get(subject);
    const { fresh, moved } = this;
    this.fresh = this.moved = false;
    if (this.subject !== subject) {
      this.subject = subject;
      if (known) this.look(known);
    }
    if (!known || (known.auto && (this.isOutside() || (fresh && this.isSmall()))) || moved) this.fit();
  }

  look({ position, scale }) {
    this.network.moveTo({ position, scale, animation: false });
  }

  /** What to show: all that the beams kept, whatever the step, and what else is drawn. */
  bounds() {
    const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    for (const [id, { x, y, width }] of this.boxes) {
      const { near, left } = this.index.nodes.get(id);
      if ((near || left) && !this.scene.nodes.has(id)) continue;
      bounds.left = Math.min(bounds.left, x - width / 2);
      bounds.right = Math.max(bounds.right, x + width / 2);
      bounds.top = Math.min(bounds.top, y - HEIGHT / 2);
      bounds.bottom = Math.max(bounds.bottom, y + HEIGHT / 2);
    }
    return bounds;
  }

  isOutside() {
    const [bounds, sight] = [this.bounds(), this.sight()];
    return bounds.left < sight.left || bounds.right > sight.right || bounds.top < sight.top || bounds.bottom > sight.bottom;
  }

  /** Could it be shown at twice the size? */
  isSmall() {
    return this.fitting().scale > 2 * this.network.getScale();
  }

  fitting() {
    const { left, top, right, bottom } = this.bounds();
    const width = this.canvas.clientWidth - PADDING.left - PADDING.right;
    const height = this.canvas.clientHeight - PADDING.top - PADDING.bottom;
    const scale = Math.min(this.closest, width / Math.max(1, right - left), height / Math.max(1, bottom - top));
    return { scale: Math.max(0.02, scale), x: (left + right) / 2, y: (top + bottom) / 2 };
  }

  fit() {
    if (!this.data?.nodes.length || !this.canvas.clientWidth) return;
    const { scale, x, y } = this.fitting();
    const { clientWidth, clientHeight } = this.canvas;
    // Whole pixels are sharp: the middle of the graph is put on one.
    const shiftX = Math.round((clientWidth + PADDING.left - PADDING.right) / 2 - x * scale);
    const shiftY = Math.round((clientHeight + PADDING.top - PADDING.bottom) / 2 - y * scale);
    this.look({ position: { x: (clientWidth / 2 - shiftX) / scale, y: (clientHeight / 2 - shiftY) / scale }, scale });
    this.keepViewport(true);
  }

  /** Puts an entity into the middle, large enough to be read. */
  centre(id) {
    const { x, y } = this.boxes.get(id);
    this.look({ position: { x, y }, scale: Math.max(READABLE, this.network.getScale()) });
    this.keepViewport(false);
  }

  /** Moves the least that brings an entity into sight. */
  reveal(id) {
    const { x, y, width } = this.boxes.get(id);
    const { left, top, right, bottom } = this.sight();
    if (x - width / 2 < left || x + width / 2 > right || y - HEIGHT < top || y + HEIGHT > bottom) this.centre(id);
  }

  zoomBy(factor) {
    this.look({ position: this.network.getViewPosition(), scale: this.network.getScale() * factor });
    this.keepViewport(false);
  }

  /** The drawn entity that an arrow key leads to; without one to start from, the first. */
  next(id, key) {
    const from = this.boxes.get(id);
    if (!this.scene.nodes.has(id) || !from) return [...this.scene.nodes.keys()][0];
    const [aheadX, aheadY] = AHEAD[key];
    let [best, least] = [id, Infinity];
    for (const other of this.scene.nodes.keys()) {
      const { x, y } = this.boxes.get(other);
      const along = (x - from.x) * aheadX + (y - from.y) * aheadY;
      const across = Math.abs((x - from.x) * aheadY) + Math.abs((y - from.y) * aheadX);
      if (along > 0 && across <= 4 * along && along + 2 * across < least) [best, least] = [other, along + 2 * across];
    }
    return best;
  }

  resized() {
    if (!this.canvas.clientWidth) return;
    this.network.setSize("100%", "100%");
    if (this.viewport?.auto) this.fit();
    else if (this.viewport) this.look(this.viewport);
    else this.place();
    this.network.redraw();
  }

  /** A picture of the canvas on the page's background. */
  async png() {
    this.network.redraw();
    const source = this.canvas.querySelector("canvas");
    const picture = document.createElement("canvas");
    Object.assign(picture, { width: source.width, height: source.height });
    const context = picture.getContext("2d");
    context.fillStyle = this.colours.background;
    context.fillRect(0, 0, picture.width, picture.height);
    context.drawImage(source, 0, 0);
    return new Promise((resolve) => picture.toBlob(resolve, "image/png"));
  }

  destroy() {
    clearTimeout(this.timer);
    this.watcher.disconnect();
    this.network.destroy();
    this.data = this.scene = null;
  }
}
