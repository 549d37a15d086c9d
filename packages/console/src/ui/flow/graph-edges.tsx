import styles from "./graph.module.css";
import {
  type GraphEdge,
  type GraphLook,
  type GraphModel,
  type GraphRead,
  type GraphRun,
  inputNode,
  resultNode,
} from "./graph-model.ts";
import type { GraphLayout } from "./layout.ts";
import { edgeLine } from "./view.ts";

/** Width of a character of a label, and the space around the text, in pixels. */
const characterPx = 6.6;
const aroundPx = 14;

/** Maximum characters of the label of an edge. */
const labelMax = 14;

/** Draws the edges (lines) between the nodes of a graph. Screen readers skip them, because each node lists the data that it reads. */
export function GraphEdges({
  model,
  places,
  run,
}: {
  model: GraphModel;
  places: GraphLayout;
  run: GraphRun | undefined;
}) {
  const lookOf = (id: string) => {
    const step = model.nodes.find((node) => node.id === id)?.step;
    return step === undefined ? undefined : run?.looks.get(step.id);
  };
  const drawn = model.edges.flatMap((edge) => {
    const [start, end] = [places.nodes.get(edge.from), places.nodes.get(edge.to)];
    if (start === undefined || end === undefined) return [];
    const points = places.lines.get(edge) ?? [];
    const source = lookOf(edge.from);
    const label = edge.reads.length === 0 ? edge.words : edgeLabel(edge.from, edge.reads, source?.rowsOut);
    const state = edgeState(edge, source, lookOf(edge.to), run);
    const id = `${edge.from} ${edge.to} ${edge.words}`;
    return [
      {
        ...{ id, state, from: edge.from, label, reach: end.x },
        ...edgeLine(start, end, points),
      },
    ];
  });
  // Edges with the same data of one node begin together, so one label is enough: that of the edge that ends first.
  const labels = new Map(
    drawn
      .filter(({ label }) => label !== "")
      .toSorted((a, b) => b.reach - a.reach)
      .map((edge) => [`${edge.from} ${edge.label}`, edge]),
  );
  return (
    <svg className={styles["edges"]} width={places.width} height={places.height} aria-hidden="true" focusable="false">
      {drawn.map(({ id, state, path }) => (
        <path key={id} d={path} className={styles[state]} />
      ))}
      {[...labels.values()].map(({ id, label, at }) => (
        <Label key={id} text={label} {...at} />
      ))}
    </svg>
  );
}

/**
 * Returns the label of an edge. `rows`: number of rows that the source has handed over; undefined if that is not known. Rows are labelled
 * with their number, a value with its name. Empty if there is nothing to say.
 */
function edgeLabel(from: string, reads: readonly GraphRead[], rows: number | undefined): string {
  const hasRows = reads.some(({ what }) => what === "rows" || what === "count");
  if (hasRows && rows !== undefined) return rows.toLocaleString("en");
  const names = [...new Set(reads.flatMap(({ what, path }) => (isValue(what) ? [path.split(/[.[]/)[0] ?? ""] : [])))];
  const [name = "", ...others] = names;
  if (others.length > 0) return `${names.length} ${from === inputNode ? "inputs" : "values"}`;
  if (name === "")
    return hasRows ? "rows" : reads.some(({ what }) => what === "error") ? "error" : names.length === 0 ? "" : "value";
  return name.length <= labelMax ? name : `${name.slice(0, labelMax - 1)}…`;
}

function isValue(what: GraphRead["what"]): boolean {
  return what === "value" || what === "answer" || what === "input" || what === "params";
}

/** Returns the state of an edge: `plain` without a run, `order` without data, else what happened to its data. */
function edgeState(
  { from, to, reads }: GraphEdge,
  source: GraphLook | undefined,
  target: GraphLook | undefined,
  run: GraphRun | undefined,
): "plain" | "order" | "handed" | "live" | "todo" {
  if (reads.length === 0) return "order";
  if (run === undefined) return "plain";
  const isMade = from === inputNode ? run.hasStarted : source?.hasStarted === true;
  if (!isMade) return "todo";
  if (source?.isRunning === true || target?.isRunning === true) return "live";
  const isRead = to === resultNode ? run.hasSucceeded : target?.hasStarted === true;
  return isRead ? "handed" : "todo";
}

function Label({ text, x, y }: { text: string; x: number; y: number }) {
  const width = text.length * characterPx + aroundPx;
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect x={-width / 2} y={-9} width={width} height={18} rx={9} />
      <text y={4} textAnchor="middle">
        {text}
      </text>
    </g>
  );
}
