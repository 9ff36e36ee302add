// What is drawn of a run at a step, and how: the same for few entities, drawn finely, and for thousands, drawn plainly.

/** What can be asked of a run's graph without looking through all of it. Made once a run. */
export function indexOf(data) {
  const nodes = new Map(data.nodes.map((node) => [node.id, node]));
  const edges = new Map(data.edges.map((edge) => [edge.id, edge]));
  const edgesAt = new Map(data.nodes.map((node) => [node.id, []]));
  for (const edge of data.edges) {
    edgesAt.get(edge.from).push(edge);
    if (edge.to !== edge.from) edgesAt.get(edge.to).push(edge);
  }
  const inResult = endsOf(data.edges.filter((edge) => edge.inResult));
  return { nodes, edges, edgesAt, inResult, gone: data.sides ? "side" : "left" };
}

/** What is to be seen: a look an edge and a node, by id. What has none is not shown. */
export function sceneOf(index, view) {
  const chain = new Set(chainOf(index, view.state));
  const atNode = view.state.node !== null;
  const edges = new Map();
  for (const edge of index.edges.values()) {
    const look = edgeLook(edge, view, chain, atNode, index.gone);
    if (look) edges.set(edge.id, look);
  }
  const onChain = new Set();
  const touched = new Set();
  for (const [id, look] of edges) {
    const { from, to } = index.edges.get(id);
    touched.add(from).add(to);
    if (look.onChain) onChain.add(from).add(to);
  }
  const nodes = new Map();
  for (const node of index.nodes.values()) {
    const reached = !node.near && !node.left && !node.alias && view.reaches(node.hop);
    if (reached || touched.has(node.id)) nodes.set(node.id, nodeLook(node, view, onChain.has(node.id), index));
  }
  return { edges, nodes };
}

/** The edges that stand out: the path to the selected fact, or what is drawn at the picked node. */
function chainOf(index, { fact, node, near }) {
  if (node === null) return index.edges.get(fact)?.chain ?? [];
  return (index.edgesAt.get(node) ?? []).filter((edge) => (near || !edge.near) && !edge.gone).map((edge) => edge.id);
}

function edgeLook(edge, view, chain, atNode, gone) {
  const onChain = chain.has(edge.id);
  const wanted = !edge.gone && (!edge.near || view.state.near || onChain);
  const left = edge.left && view.atResult;
  if (!left && !(wanted && view.reaches(edge.hop))) return null;
  const cut = view.atResult && !edge.inResult && !edge.near && !left;
  return {
    onChain,
    width: !onChain ? (edge.alias ? 2 : 1.5) : atNode ? 2.5 : 4,
    dashes: left ? gone : edge.near ? "near" : edge.alias ? "alias" : null,
    faded: !onChain && (cut || chain.size > 0),
    labelled: edge.alias || (onChain && (!atNode || view.labelled)),
    entered: edge.entered,
  };
}

function nodeLook(node, view, onChain, { inResult, gone }) {
  const picked = view.state.node === node.id;
  const cut = view.atResult && (node.hop > 0 || node.alias) && !node.near && !node.left && !inResult.has(node.id) && !onChain;
  return {
    picked,
    width: picked ? 3.5 : onChain ? 2.5 : 1.5,
    dashes: node.left ? gone : node.near ? "near" : null,
    faded: cut,
    entered: node.entered,
  };
}

function endsOf(edges) {
  return new Set(edges.flatMap((edge) => [edge.from, edge.to]));
}
