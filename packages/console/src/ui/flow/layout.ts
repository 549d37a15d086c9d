import { Graph, layout } from "@dagrejs/dagre";
import type { GraphEdge, GraphModel } from "./graph-model.ts";

/** A place in the graph, in pixels from its top left corner. */
type GraphPoint = { readonly x: number; readonly y: number };

/** A rectangle in the graph, in pixels. `x` and `y`: its top left corner. */
export type GraphRect = GraphPoint & { readonly width: number; readonly height: number };

/** The positions of a graph's nodes, boxes and edges in pixels. `lines`: for each edge, the points through which its line goes. */
export type GraphLayout = {
  readonly width: number;
  readonly height: number;
  readonly nodes: ReadonlyMap<string, GraphRect>;
  readonly boxes: ReadonlyMap<string, GraphRect>;
  readonly lines: ReadonlyMap<GraphEdge, readonly GraphPoint[]>;
};

/** Size of a node in pixels. */
const nodeSize = { width: 196, height: 68 };
/**
 * Smallest distances in pixels: between columns, between nodes of a column, and between lines of a column. dagre treats the borders of boxes
 * as lines, so `edgesep` leaves room for the name of a box.
 */
const gaps = { ranksep: 56, nodesep: 28, edgesep: 46 };
/** Distances in pixels between a box and the nodes in it. The top has room for the name of the box. */
const padding = { side: 18, top: 36, bottom: 16 };
const margin = 24;

/**
 * Returns the positions of a graph's nodes, boxes and edges, from left to right. It takes about 100 ms for 100 steps, so call it once for
 * each program.
 */
export function layoutGraph(model: GraphModel): GraphLayout {
  const graph = new Graph({ compound: true, multigraph: true });
  const leaders = leadersOf(model);
  const isOwn = (edge: GraphEdge) => !edge.isLoose && leaders.get(edge) === undefined;
  const others = model.edges.filter((edge) => !isOwn(edge));
  graph.setGraph({
    ...gaps,
    rankdir: "LR",
    marginx: margin,
    marginy: margin,
    ranker: (ranked: Graph) => rankNodes(ranked, others),
  });
  for (const { id } of model.boxes) graph.setNode(id, {});
  for (const { id } of model.nodes) graph.setNode(id, { ...nodeSize });
  for (const { id, box } of [...model.boxes, ...model.nodes]) if (box !== undefined) graph.setParent(id, box);
  for (const edge of model.edges) if (isOwn(edge)) graph.setEdge(edge.from, edge.to, { weight: 1, minlen: 1 });
  layout(graph, {
    useDynamic: false,
    customOrder: (ranked) => orderColumns(model, ranked),
  });
  return placed(model, graph, leaders);
}

/**
 * Returns for some edges the edge whose line they share: data of one node that passes at least one column goes along the line to its
 * farthest reader, and leaves it before its own reader.
 */
function leadersOf({ nodes, edges }: GraphModel): ReadonlyMap<GraphEdge, GraphEdge> {
  const columns = new Map<string, number>();
  for (const { id } of nodes) {
    const into = edges.filter(({ to }) => to === id);
    const least = into.map(({ from, isLoose }) => (columns.get(from) ?? 0) + (isLoose ? 0 : 1));
    columns.set(id, Math.max(0, ...least));
  }
  const lengthOf = ({ from, to }: GraphEdge) => (columns.get(to) ?? 0) - (columns.get(from) ?? 0);
  const long = edges.filter((edge) => edge.reads.length > 0 && lengthOf(edge) > 1);
  const shared = Map.groupBy(long, ({ from }) => from);
  const found = new Map<GraphEdge, GraphEdge>();
  for (const group of shared.values()) {
    const [leader, ...followers] = group.toSorted((a, b) => lengthOf(b) - lengthOf(a));
    if (leader !== undefined) for (const edge of followers) found.set(edge, leader);
  }
  return found;
}

type Ranked = { readonly from: string; readonly minlen: number };

/**
 * Gives each node its column: as far left as its data and its place in the program allow. A node is never left of a node that runs before
 * it. dagre's own ranking knows no such order without an edge, and an edge would need another column.
 */
function rankNodes(graph: Graph, others: readonly GraphEdge[]): void {
  const into = new Map<string, Ranked[]>();
  const add = (to: string, ranked: Ranked) => into.set(to, [...(into.get(to) ?? []), ranked]);
  for (const edge of graph.edges()) add(edge.w, { from: edge.v, minlen: graph.edge(edge).minlen ?? 1 });
  // dagre multiplies the lengths of all edges, to have room for the borders of boxes.
  const lengths = graph.edges().map((edge) => graph.edge(edge));
  const column = lengths.find(({ weight = 0, nestingEdge }) => weight > 0 && nestingEdge !== true)?.minlen ?? 1;
  for (const { from, to, isLoose } of others) add(to, { from, minlen: isLoose ? 0 : column });
  const ranks = new Map<string, number>();
  const rankOf = (id: string): number => {
    const known = ranks.get(id);
    if (known !== undefined) return known;
    const rank = Math.max(0, ...(into.get(id) ?? []).map(({ from, minlen }) => rankOf(from) + minlen));
    ranks.set(id, rank);
    return rank;
  };
  const ids = graph.nodes().toSorted((a, b) => rankOf(b) - rankOf(a));
  for (const id of ids) {
    const node = graph.node(id);
    node.rank = rankOf(id);
    const out = graph.outEdges(id) ?? [];
    // The left border of a box has no edge into it, so it moves right, up to the first node of the box. Inner boxes come first.
    if (node.dummy !== "border" || out.length === 0) continue;
    node.rank = Math.min(...out.map((edge) => (graph.node(edge.w).rank ?? 0) - (graph.edge(edge).minlen ?? 1)));
  }
}

/**
 * Orders each column from top to bottom as the program orders its steps, so that the graph reads as the program does. A line that passes a
 * column goes above the steps that follow its source, or above its target if it comes from the input.
 */
function orderColumns({ nodes }: GraphModel, graph: Graph): void {
  const places = new Map(nodes.map(({ id }, index) => [id, index]));
  const keyOf = (id: string): number => {
    const { edgeObj } = graph.node(id);
    if (edgeObj === undefined) {
      const inner = graph.children(id).map(keyOf);
      return places.get(id) ?? Math.min(Number.POSITIVE_INFINITY, ...inner);
    }
    const [from = 0, to = 0] = [places.get(edgeObj.v), places.get(edgeObj.w)];
    // Lines with the same source are in the order of their targets.
    return from === 0 ? to - 0.5 : from + 0.5 + to / (2 * nodes.length + 2);
  };
  const keys = new Map(graph.nodes().map((id) => [id, keyOf(id)]));
  const isIn = (id: string, column: number) => {
    const { rank, minRank, maxRank } = graph.node(id);
    return minRank === undefined || maxRank === undefined ? rank === column : minRank <= column && column <= maxRank;
  };
  const partsOf = (parent: string | undefined, column: number): string[] =>
    (parent === undefined ? graph.children() : graph.children(parent))
      .filter((id) => isIn(id, column))
      .toSorted((a, b) => (keys.get(a) ?? 0) - (keys.get(b) ?? 0))
      .flatMap((id) => {
        const { borderLeft, borderRight } = graph.node(id);
        const [above, below] = [borderLeft?.[column], borderRight?.[column]];
        if (above === undefined || below === undefined) return [id];
        return [above, ...partsOf(id, column).filter((part) => part !== above && part !== below), below];
      });
  const last = Math.max(...graph.nodes().map((id) => graph.node(id).rank ?? 0));
  for (let column = 0; column <= last; column++) {
    for (const [order, id] of partsOf(undefined, column).entries()) graph.node(id).order = order;
  }
}

/** Reads the places from dagre's graph. Boxes get the size of their content, with room for their names. */
function placed(model: GraphModel, graph: Graph, leaders: ReadonlyMap<GraphEdge, GraphEdge>): GraphLayout {
  const rects = new Map<string, GraphRect>();
  for (const { id } of model.nodes) {
    const { x = 0, y = 0 } = graph.node(id);
    rects.set(id, { x: x - nodeSize.width / 2, y: y - nodeSize.height / 2, ...nodeSize });
  }
  for (const { id } of model.boxes.toReversed()) {
    const inner = [...model.nodes, ...model.boxes].flatMap((part) =>
      part.box === id ? (rects.get(part.id) ?? []) : [],
    );
    rects.set(id, around(inner));
  }
  const columns = new Set(model.nodes.map(({ id }) => Math.round(graph.node(id).x ?? 0)));
  const lines = model.edges.map((edge) => [edge, lineOf(edge, { graph, leaders, columns })] as const);
  const all = [
    ...rects.values(),
    ...lines.flatMap(([, points]) => points.map((point) => ({ ...point, width: 0, height: 0 }))),
  ];
  const left = Math.min(...all.map(({ x }) => x)) - margin;
  const top = Math.min(...all.map(({ y }) => y)) - margin;
  const move = <Point extends GraphPoint>(point: Point): Point => ({ ...point, x: point.x - left, y: point.y - top });
  const moved = ({ id }: { readonly id: string }): [string, GraphRect][] => {
    const rect = rects.get(id);
    return rect === undefined ? [] : [[id, move(rect)]];
  };
  return {
    width: Math.max(...all.map(({ x, width }) => x + width)) - left + margin,
    height: Math.max(...all.map(({ y, height }) => y + height)) - top + margin,
    nodes: new Map(model.nodes.flatMap(moved)),
    boxes: new Map(model.boxes.flatMap(moved)),
    lines: new Map(lines.map(([edge, points]) => [edge, points.map(move)])),
  };
}

type Lines = {
  readonly graph: Graph;
  readonly leaders: ReadonlyMap<GraphEdge, GraphEdge>;
  /** Middles of the columns, in whole pixels. */
  readonly columns: ReadonlySet<number>;
};

/**
 * Returns the points of an edge: its line is straight next to the nodes of a column and bends between columns. dagre's points between
 * columns are left out.
 */
function lineOf(edge: GraphEdge, { graph, leaders, columns }: Lines): readonly GraphPoint[] {
  if (edge.isLoose) return [];
  const { from, to } = leaders.get(edge) ?? edge;
  const end = graph.node(edge.to).x ?? 0;
  const half = nodeSize.width / 2;
  const points: readonly GraphPoint[] = graph.edge(from, to).points ?? [];
  return points
    .filter(
      ({ x }) => columns.has(Math.round(x)) && x < end - nodeSize.width && x > (graph.node(from).x ?? 0) + half + 1,
    )
    .flatMap(({ x, y }) => [x - half, x + half].map((side) => ({ x: side, y })));
}

/** Returns the rectangle of a box around these rectangles. */
function around(inner: readonly GraphRect[]): GraphRect {
  const x = Math.min(...inner.map((rect) => rect.x)) - padding.side;
  const y = Math.min(...inner.map((rect) => rect.y)) - padding.top;
  const right = Math.max(...inner.map((rect) => rect.x + rect.width)) + padding.side;
  const bottom = Math.max(...inner.map((rect) => rect.y + rect.height)) + padding.bottom;
  return { x, y, width: right - x, height: bottom - y };
}
