import type { GraphRect } from "./layout.ts";

type GraphPoint = Pick<GraphRect, "x" | "y">;

/** The part of a graph that its window shows: the place of the graph's corner in the window, and the scale. */
type GraphView = GraphPoint & { readonly scale: number };

type Size = { readonly width: number; readonly height: number };

/** Smallest and largest scale of a graph. */
const scales = { min: 0.4, max: 2 };
/** Smallest scale with which a graph opens. Texts are still readable then, and the rest of the graph is beyond the edge. */
const firstScaleMin = 0.62;
/** Distance in pixels that stays free between a node that is brought into view and the edge of the window. */
const edgePx = 24;

/** Returns the view (position and scale) that shows a whole graph in the middle of its window. The graph is never enlarged. */
export function fitView(graph: Size, win: Size): GraphView {
  return centred(graph, win, clamp(Math.min(win.width / graph.width, win.height / graph.height, 1)));
}

/** Returns the view with which a graph opens: the whole graph, or its beginning if its texts would be too small to read. */
export function firstView(graph: Size, win: Size): GraphView {
  const view = fitView(graph, win);
  return view.scale >= firstScaleMin ? view : centred(graph, win, firstScaleMin);
}

function centred(graph: Size, win: Size, scale: number): GraphView {
  const [left, top] = [(win.width - graph.width * scale) / 2, (win.height - graph.height * scale) / 2];
  return { scale, x: Math.max(0, left), y: Math.max(0, top) };
}

/**
 * Returns the view of a graph after a change of its scale by `factor`. The part of the graph at the point `at` of the window stays at that
 * point.
 */
export function zoomView(view: GraphView, factor: number, at: GraphPoint): GraphView {
  const scale = clamp(view.scale * factor);
  const change = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * change, y: at.y - (at.y - view.y) * change };
}

/** Returns the view of a graph, moved as little as possible so that the rectangle `rect` of the graph is visible in the window. */
export function showRect(view: GraphView, rect: GraphRect, win: Size): GraphView {
  const place = (at: number, length: number, size: number) => {
    const [from, to] = [at, at + length];
    if (from < edgePx) return edgePx - from;
    return to > size - edgePx ? Math.max(edgePx - from, size - edgePx - to) : 0;
  };
  const { x, y, scale } = view;
  return {
    scale,
    x: x + place(x + rect.x * scale, rect.width * scale, win.width),
    y: y + place(y + rect.y * scale, rect.height * scale, win.height),
  };
}

function clamp(scale: number): number {
  return Math.min(scales.max, Math.max(scales.min, scale));
}

/**
 * Returns the id of the node that an arrow key reaches from the node `from`: the nearest one in this direction, with preference for nodes
 * straight ahead. Undefined if there is none.
 */
export function neighbourOf(
  from: string,
  direction: GraphPoint,
  nodes: ReadonlyMap<string, GraphRect>,
): string | undefined {
  const start = nodes.get(from);
  if (start === undefined) return undefined;
  const middle = ({ x, y, width, height }: GraphRect) => ({ x: x + width / 2, y: y + height / 2 });
  const at = middle(start);
  const ahead = [...nodes].flatMap(([id, rect]) => {
    const to = middle(rect);
    const forward = (to.x - at.x) * direction.x + (to.y - at.y) * direction.y;
    const aside = Math.abs((to.x - at.x) * direction.y) + Math.abs((to.y - at.y) * direction.x);
    return id !== from && forward > 1 && forward >= aside / 3 ? [{ id, far: forward + 2 * aside }] : [];
  });
  return ahead.toSorted((a, b) => a.far - b.far)[0]?.id;
}

/** Returns the line of an edge in a graph as an SVG path, and the position of its label. */
export function edgeLine(from: GraphRect, to: GraphRect, points: readonly GraphPoint[]) {
  return { path: edgePath(from, to, points), at: labelPlace(from, to, points) };
}

/**
 * Returns the line of an edge as the text of an SVG path: from the right side of one node through the points to the left side of the other.
 * If the other node is in the same column, the line goes from the bottom of the upper node to the top of the lower one.
 */
function edgePath(from: GraphRect, to: GraphRect, points: readonly GraphPoint[]): string {
  if (to.x < from.x + from.width) {
    const [upper, lower] = from.y < to.y ? [from, to] : [to, from];
    const [start, end] = [upper.x + upper.width / 2, lower.x + lower.width / 2];
    const [top, bottom] = [upper.y + upper.height, lower.y];
    const half = (top + bottom) / 2;
    return `M${n(start)} ${n(top)}C${n(start)} ${n(half)} ${n(end)} ${n(half)} ${n(end)} ${n(bottom)}`;
  }
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const all = [...points, { x: to.x, y: to.y + to.height / 2 }];
  return all.reduce<{ path: string; at: GraphPoint }>(
    ({ path, at }, { x, y }) => {
      const half = n((at.x + x) / 2);
      return { path: `${path}C${half} ${n(at.y)} ${half} ${n(y)} ${n(x)} ${n(y)}`, at: { x, y } };
    },
    { path: `M${n(start.x)} ${n(start.y)}`, at: start },
  ).path;
}

/** Returns the place for the label of an edge: between its first two columns, so that labels of edges that meet do not cover each other. */
function labelPlace(from: GraphRect, to: GraphRect, points: readonly GraphPoint[]): GraphPoint {
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const next = points[0] ?? { x: to.x, y: to.y + to.height / 2 };
  return { x: (start.x + next.x) / 2, y: (start.y + next.y) / 2 };
}

function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}
