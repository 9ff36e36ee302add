// Entities as boxes on a canvas: their sizes, and how they are painted.

export const HEIGHT = 22;
const LEAST = 104;
const MOST = 158;
const BEFORE_TEXT = 26;
const AFTER_TEXT = 8;
const FONT = 12;
const SMALLEST = 0.34; // the scale under which text cannot be read, and is not painted
export const READABLE = 0.8;
const RADIUS = 4;
const NODE_DASHES = { near: [4, 3], left: [1.5, 2.5], side: [7, 3] };

/** Each node's box in graph units: `{x, y, width, text, aside}`, the text cut to what the box can hold. */
export function boxesOf(nodes, face) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `${FONT}px ${face}`;
  const wide = new Map();
  const widthOf = (text) => {
    if (!wide.has(text)) wide.set(text, context.measureText(text).width);
    return wide.get(text);
  };
  return new Map(nodes.map((node) => [node.id, boxOf(node, widthOf)]));
}

function boxOf(node, widthOf) {
  const aside = node.aside ?? (node.hub && node.degree ? node.degree.toLocaleString("en") : "");
  const asideWidth = aside ? widthOf(aside) + 8 : 0;
  const room = MOST - BEFORE_TEXT - AFTER_TEXT - asideWidth;
  const text = fitted(node.label, room, widthOf);
  const width = Math.ceil(Math.max(LEAST, BEFORE_TEXT + widthOf(text) + asideWidth + AFTER_TEXT));
  return { x: node.x, y: node.y, width, text, aside };
}

function fitted(text, room, widthOf) {
  if (widthOf(text) <= room) return text;
  const characters = [...text.replace(/…$/, "")];
  while (characters.length > 1 && widthOf(`${characters.join("")}…`) > room) characters.pop();
  return `${characters.join("").trimEnd()}…`;
}

export function isInside(box, { x, y }) {
  return Math.abs(x - box.x) <= box.width / 2 && Math.abs(y - box.y) <= HEIGHT / 2;
}

/** Behind everything: a halo round what is new in the result. */
export function paintHalos(context, seen, colours) {
  context.fillStyle = colours.halo;
  for (const { box, look } of seen) {
    if (!look.entered) continue;
    context.beginPath();
    context.roundRect(box.x - box.width / 2 - 6, box.y - HEIGHT / 2 - 6, box.width + 12, HEIGHT + 12, RADIUS + 5);
    context.fill();
  }
}

/** The boxes that are in sight. Where text could not be read, a frame and a hop's colour are left; what was picked can be. */
export function paintBoxes(context, seen, colours, scale) {
  context.save();
  context.textBaseline = "middle";
  const paint = scale < SMALLEST ? paintPlain : paintFine;
  for (const one of seen) {
    const { box, look } = one;
    const alpha = look.faded ? 0.5 : 1;
    if (look.picked && scale < READABLE) {
      context.translate(box.x, box.y);
      context.scale(READABLE / scale, READABLE / scale);
      paintFine(context, { ...one, box: { ...box, x: 0, y: 0 } }, colours, alpha);
    } else paint(context, one, colours, alpha); // what was picked comes last: nothing follows at its scale
  }
  context.restore();
}

function paintPlain(context, { node, box, look }, colours, alpha) {
  const [left, top] = [box.x - box.width / 2, box.y - HEIGHT / 2];
  context.globalAlpha = 1;
  context.fillStyle = look.picked ? colours.hops[node.hop] : colours.background;
  context.fillRect(left, top, box.width, HEIGHT);
  context.globalAlpha = alpha;
  context.fillStyle = colours.hops[node.hop];
  context.fillRect(left, top, BEFORE_TEXT, HEIGHT);
  context.setLineDash(NODE_DASHES[look.dashes] ?? []);
  context.lineWidth = look.width;
  context.strokeStyle = colours.hops[node.hop];
  context.strokeRect(left, top, box.width, HEIGHT);
}

function paintFine(context, { node, box, look }, colours, alpha) {
  const [left, top] = [box.x - box.width / 2, box.y - HEIGHT / 2];
  const outline = (by) => {
    context.beginPath();
    context.roundRect(left - by, top - by, box.width + 2 * by, HEIGHT + 2 * by, RADIUS + by);
  };
  context.globalAlpha = 1; // what is faded still hides the lines that run behind it
  context.fillStyle = look.picked ? colours.raised : colours.background;
  outline(0);
  context.fill();
  context.globalAlpha = alpha;
  context.strokeStyle = colours.hops[node.hop];
  context.setLineDash(NODE_DASHES[look.dashes] ?? []);
  context.lineWidth = look.width;
  context.stroke();
  context.setLineDash([]);
  if (node.hub) {
    context.lineWidth = 1;
    outline(3);
    context.stroke();
  }
  if (node.pinned) paintPin(context, left + box.width, top, colours);
  paintMark(context, left + 13, box.y, node, colours);
  context.font = `${FONT}px ${colours.face}`;
  context.fillStyle = colours.text;
  context.textAlign = "left";
  context.fillText(box.text, left + BEFORE_TEXT, box.y + 0.5);
  if (!box.aside) return;
  context.textAlign = "right";
  context.globalAlpha *= 0.75;
  context.fillText(box.aside, left + box.width - AFTER_TEXT, box.y + 0.5);
}

/** A tack in the corner. */
function paintPin(context, x, y, colours) {
  context.fillStyle = colours.text;
  context.strokeStyle = colours.background;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x - 2, y + 2, 5, 0, 2 * Math.PI);
  context.stroke();
  context.fill();
}

function paintMark(context, x, y, { hop, alias, mark }, colours) {
  const digit = mark ?? (alias ? "≈" : hop > 0 ? String(hop) : "");
  context.fillStyle = colours.hops[hop];
  context.beginPath();
  if (!digit) {
    context.moveTo(x, y - 7);
    context.lineTo(x + 7, y);
    context.lineTo(x, y + 7);
    context.lineTo(x - 7, y);
  } else {
    context.arc(x, y, 7.5, 0, 2 * Math.PI);
  }
  context.fill();
  if (!digit) return;
  context.fillStyle = colours.background;
  context.font = `bold 11px ${colours.face}`;
  context.textAlign = "center";
  context.fillText(digit, x, y + 0.5);
}
