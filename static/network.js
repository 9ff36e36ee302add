// The beam frontier on a canvas, by vis-network. Places come with the data and are never computed here.

import { DataSet, Network } from "./vis-network/vis-network.min.mjs";

const OPTIONS = {
  physics: false,
  layout: { improvedLayout: false },
  interaction: { hover: true, tooltipDelay: 150, selectConnectedEdges: false, multiselect: false },
  nodes: {
    shape: "box",
    chosen: false,
    margin: { top: 5, right: 8, bottom: 5, left: 25 },
    shapeProperties: { borderRadius: 4 },
  },
  edges: { chosen: false, arrowStrikethrough: false, arrows: { to: { enabled: true, scaleFactor: 0.5 } } },
};

/** Where each subject was looked at, for the life of the browser's page: a remount finds it again. */
const viewports = new Map();

export class Frontier {
  constructor(canvas, { pick }) {
    this.canvas = canvas;
    canvas.frontier = this; // so that a test, or a person at the console, can ask where a node is
    this.nodes = new DataSet();
    this.edges = new DataSet();
    this.sent = new Map();
    this.hovered = null;
    this.shown = new Set();
    this.network = new Network(canvas, { nodes: this.nodes, edges: this.edges }, OPTIONS);
    this.network.on("click", ({ nodes, edges }) => pick(nodes[0], edges[0]));
    this.network.on("hoverEdge", ({ edge }) => this.hover(edge));
    this.network.on("blurEdge", () => this.hover(null));
    this.network.on("afterDrawing", (context) => this.drawMarks(context));
    this.network.on("zoom", () => this.keepViewport(false));
    this.network.on("dragEnd", ({ nodes }) => this.keepViewport(nodes.length > 0 && this.viewport?.auto));
    this.watcher = new ResizeObserver(() => this.resized());
    this.watcher.observe(canvas);
  }

  /** Draws a run as the view wants to see it. Only what changed is handed to the network. */
  draw(data, view, colours) {
    Object.assign(this, { data, view, colours });
    const chain = new Set(this.chainOf(view.state));
    const onChain = this.endsOf((edge) => chain.has(edge.id));
    const inResult = this.endsOf((edge) => edge.inResult);
    const nodes = data.nodes.map((node) => this.styledNode(node, onChain.has(node.id), inResult.has(node.id)));
    const edges = data.edges.map((edge) => this.styledEdge(edge, chain));
    this.shown = new Set(nodes.filter((node) => !node.hidden).map((node) => node.id));
    this.update(this.nodes, nodes);
    this.update(this.edges, edges);
    this.place();
  }

  /** The edges that stand out: the path to the selected fact, or what is drawn at the picked node. */
  chainOf({ fact, node, near }) {
    if (node === null) return this.data.edges.find((edge) => edge.id === fact)?.chain ?? [];
    const drawn = this.data.edges.filter((edge) => near || !edge.near);
    return drawn.filter((edge) => edge.from === node || edge.to === node).map((edge) => edge.id);
  }

  endsOf(wanted) {
    return new Set(this.data.edges.filter(wanted).flatMap((edge) => [edge.from, edge.to]));
  }

  styledNode(node, onChain, inResult) {
    const { view, colours } = this;
    const wanted = node.near ? view.state.near || onChain : true;
    const picked = view.state.node === node.id;
    return {
      id: node.id,
      x: node.x,
      y: node.y,
      label: node.hub ? `${node.label} · ${node.degree.toLocaleString("en")}` : node.label,
      title: node.title,
      hidden: !wanted || !view.reaches(node.hop),
      borderWidth: picked ? 4 : onChain ? 2.5 : 1.5,
      color: { background: picked ? colours.raised : colours.background, border: colours.hops[node.hop] },
      font: { size: 12, face: colours.face, color: colours.text },
      opacity: view.atResult && node.hop > 0 && !node.near && !inResult && !onChain ? 0.5 : 1,
      shapeProperties: { borderRadius: 4, borderDashes: node.near ? [4, 3] : false },
    };
  }

  styledEdge(edge, chain) {
    const { view, colours } = this;
    const onChain = chain.has(edge.id);
    const wanted = edge.near ? view.state.near || onChain : true;
    const left = view.atResult && !edge.inResult && !edge.near;
    const faded = left || (chain.size > 0 && !onChain);
    const atNode = view.state.node !== null;
    const labelled = (onChain && !atNode) || this.hovered === edge.id;
    return {
      id: edge.id,
      from: edge.from,
      to: edge.to,
      title: edge.title,
      label: labelled ? edge.label : " ", // without a label the network would keep the one before
      hidden: !wanted || !view.reaches(edge.hop),
      width: !onChain ? 1.5 : atNode ? 2.5 : 4,
      dashes: edge.near ? [6, 4] : left ? [2, 3] : false,
      color: { color: colours.hops[edge.hop], hover: colours.hops[edge.hop], opacity: faded && !onChain ? 0.5 : 1 },
      font: { size: 11, face: colours.face, color: colours.text, strokeWidth: 4, strokeColor: colours.background },
      smooth: bend(edge.curve),
    };
  }

  update(set, items) {
    const wanted = new Set(items.map((item) => item.id));
    const changed = items.filter((item) => {
      const text = JSON.stringify(item);
      const same = this.sent.get(item.id) === text && set.get(item.id) !== null;
      this.sent.set(item.id, text);
      return !same;
    });
    const gone = set.getIds().filter((id) => !wanted.has(id));
    if (gone.length) set.remove(gone);
    if (changed.length) set.update(changed);
  }

  hover(edge) {
    this.hovered = edge;
    const chain = new Set(this.chainOf(this.view.state));
    this.update(this.edges, this.data.edges.map((item) => this.styledEdge(item, chain)));
  }

  drawMarks(context) {
    for (const node of this.data?.nodes ?? []) {
      const box = this.shown.has(node.id) && this.network.getBoundingBox(node.id);
      if (!box) continue;
      drawMark(context, box.left + 13, (box.top + box.bottom) / 2, node.hop, this.colours);
    }
  }

  get viewport() {
    return viewports.get(this.subject);
  }

  keepViewport(auto) {
    viewports.set(this.subject, {
      position: this.network.getViewPosition(),
      scale: this.network.getScale(),
      auto: Boolean(auto),
    });
  }

  /** Looks where the person last looked; before that, at everything, again whenever something new lies outside. */
  place() {
    if (!this.canvas.clientWidth || !this.data) return;
    const { subject } = this.view.run;
    const known = viewports.get(subject);
    if (this.subject !== subject) {
      this.subject = subject;
      if (known) this.network.moveTo({ position: known.position, scale: known.scale, animation: false });
    }
    if (!known || (known.auto && this.isOutside())) this.fit();
  }

  isOutside() {
    const { clientWidth, clientHeight } = this.canvas;
    const start = this.network.DOMtoCanvas({ x: 0, y: 0 });
    const end = this.network.DOMtoCanvas({ x: clientWidth, y: clientHeight });
    return [...this.shown].some((id) => {
      const box = this.network.getBoundingBox(id);
      return box && (box.left < start.x || box.right > end.x || box.top < start.y || box.bottom > end.y);
    });
  }

  fit() {
    this.network.redraw();
    this.network.fit({ nodes: [...this.shown], maxZoomLevel: 1, animation: false });
    const { x, y } = this.network.getViewPosition();
    this.network.moveTo({ position: { x: Math.round(x), y: Math.round(y) }, animation: false }); // whole pixels are sharp
    this.keepViewport(true);
  }

  resized() {
    if (!this.canvas.clientWidth) return;
    this.network.setSize("100%", "100%");
    this.network.redraw();
    if (this.viewport?.auto) this.fit();
    else this.place();
  }

  /** A picture of the canvas on the page's background. */
  async png() {
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
    this.watcher.disconnect();
    this.network.destroy();
  }
}

function bend(curve) {
  if (curve === 0) return { enabled: true, type: "cubicBezier", forceDirection: "horizontal", roundness: 0.4 };
  return { enabled: true, type: curve > 0 ? "curvedCW" : "curvedCCW", roundness: Math.abs(curve) };
}

function drawMark(context, x, y, hop, colours) {
  context.save();
  context.fillStyle = colours.hops[hop];
  context.beginPath();
  if (hop === 0) {
    context.moveTo(x, y - 7);
    context.lineTo(x + 7, y);
    context.lineTo(x, y + 7);
    context.lineTo(x - 7, y);
  } else {
    context.arc(x, y, 7.5, 0, 2 * Math.PI);
  }
  context.fill();
  if (hop > 0) {
    context.fillStyle = colours.background;
    context.font = `bold 11px ${colours.face}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(String(hop), x, y + 0.5);
  }
  context.restore();
}
