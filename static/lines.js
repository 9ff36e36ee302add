// Facts as lines: finely, each by the network, or thousands at once as plain strokes.

import { HEIGHT } from "./boxes.js";

const CLEAR = "rgba(0, 0, 0, 0)";
const DASHES = { near: [6, 4], left: [1, 4], side: [10, 4], alias: [2, 3] };
const ARROWS_FROM = 0.4; // the scale from which arrows can be seen
const LABELS_FROM = 0.45;
const ARROW = 9;
const ASIDE = 26; // a "may be" is mostly as short as its label is high: it stands beside it

/** An edge for the network; without a look it is hidden. */
export function styledEdge(edge, look, layout, colours) {
  return {
    id: edge.id,
    from: edge.from,
    to: edge.to,
    label: look?.labelled ? edge.label : " ", // without a label the network would keep the one before
    hidden: !look,
    width: look?.width ?? 1.5,
    dashes: DASHES[look?.dashes] ?? false,
    arrows: { to: { enabled: !edge.alias } },
    color: { color: colours.hops[edge.hop], opacity: look?.faded ? 0.5 : 1 },
    background: { enabled: Boolean(look?.entered), color: colours.halo, size: 9, dashes: false },
    font: { color: CLEAR, strokeWidth: 0 }, // painted here, above all lines
    smooth: bend(edge.curve, layout),
  };
}

function bend(curve, layout) {
  if (curve !== 0) return { enabled: true, type: curve > 0 ? "curvedCW" : "curvedCCW", roundness: Math.abs(curve) };
  if (layout === "force") return { enabled: false };
  return { enabled: true, type: "cubicBezier", forceDirection: "horizontal", roundness: 0.25 };
}

/** What the lines say that are labelled, in their middle, above all lines. */
export function paintLabels(context, lines, colours, scale) {
  if (scale < LABELS_FROM) return;
  context.save();
  context.font = `11px ${colours.face}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = colours.background;
  context.fillStyle = colours.text;
  for (const { edge, from, to } of lines) {
    const middle = middleOf(edge, from, to);
    const [x, y] = [middle.x + (edge.alias ? ASIDE : 0), middle.y];
    context.strokeText(edge.label, x, y);
    context.fillText(edge.label, x, y);
  }
  context.restore();
}

/** A curve bends to the right of its direction, or to the left: its middle lies half its roundness aside. */
function middleOf({ curve }, from, to) {
  if (from === to) return { x: from.x, y: from.y - 2 * HEIGHT };
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  return { x: (from.x + to.x + curve * dy) / 2, y: (from.y + to.y - curve * dx) / 2 };
}

/** Many edges as straight lines, one stroke for all that look alike; arrows only where they can be seen. */
export function paintLines(context, lines, colours, scale) {
  const groups = new Map();
  for (const line of lines) {
    const { edge, look } = line;
    const key = `${look.faded ? 0 : 1}|${look.width}|${look.dashes}|${edge.hop}|${edge.alias}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(line);
  }
  context.save();
  strokeAll(context, lines.filter(({ look }) => look.entered), { colour: colours.halo, width: 9 });
  for (const [, group] of [...groups].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const { edge, look } = group[0];
    context.globalAlpha = look.faded ? 0.35 : 1;
    strokeAll(context, group, { colour: colours.hops[edge.hop], width: look.width, dashes: DASHES[look.dashes] });
    if (scale >= ARROWS_FROM && !edge.alias) fillArrows(context, group, colours.hops[edge.hop]);
  }
  context.restore();
}

function strokeAll(context, group, { colour, width, dashes = [] }) {
  if (!group.length) return;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dashes);
  context.beginPath();
  for (const { from, to } of group) {
    context.moveTo(from.x, from.y);
    if (from === to) context.arc(from.x, from.y - HEIGHT / 2 - 8, 8, Math.PI / 2, 2.5 * Math.PI);
    else context.lineTo(to.x, to.y);
  }
  context.stroke();
}

function fillArrows(context, group, colour) {
  context.fillStyle = colour;
  context.beginPath();
  for (const { from, to } of group) {
    if (from === to) continue;
    const angle = Math.atan2(to.y - from.y, to.x - from.x);
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const inside = Math.min(Math.abs(to.width / 2 / cos), Math.abs(HEIGHT / 2 / sin));
    const [x, y] = [to.x - inside * cos, to.y - inside * sin];
    context.moveTo(x, y);
    context.lineTo(x - ARROW * cos - 0.4 * ARROW * sin, y - ARROW * sin + 0.4 * ARROW * cos);
    context.lineTo(x - ARROW * cos + 0.4 * ARROW * sin, y - ARROW * sin - 0.4 * ARROW * cos);
  }
  context.fill();
}

/** The line nearest to a point, at most `reach` away. */
export function lineAt(lines, { x, y }, reach) {
  let [best, least] = [null, reach];
  for (const line of lines) {
    const { from, to } = line;
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const along = Math.min(1, Math.max(0, ((x - from.x) * dx + (y - from.y) * dy) / (dx * dx + dy * dy || 1)));
    const away = Math.hypot(x - from.x - along * dx, y - from.y - along * dy);
    if (away < least) [best, least] = [line, away];
  }
  return best;
}

export function isInSight({ from, to }, sight) {
  return (
    Math.max(from.x, to.x) >= sight.left &&
    Math.min(from.x, to.x) <= sight.right &&
    Math.max(from.y, to.y) >= sight.top &&
    Math.min(from.y, to.y) <= sight.bottom
  );
}
