import type { Word } from "../../words/word.ts";

/** Kind of the data that a step reads, as DescribeProgram names it. */
type GraphReadKind = "input" | "params" | "value" | "error" | "rows" | "count" | "answer" | "undone";

/**
 * Data that a step of a program reads. `from`: id of the step that makes the data. `path`: the read part of that data; empty if the step
 * reads all of it.
 */
export type GraphRead = { readonly what: GraphReadKind; readonly from: string; readonly path: string };

/** A step of a program with the data that it reads. `app`: name of the app that the step calls; empty if it calls none. */
export type GraphStep = {
  readonly id: string;
  readonly kind: string;
  readonly parentId: string;
  readonly branch: string;
  readonly title: string;
  readonly tool: string;
  readonly app: string;
  readonly reads: readonly GraphRead[];
};

/**
 * A program in the form in which the graph draws it. `key`: identifies the program, for example its hash. `input`: names of the program's
 * input values.
 */
export type GraphProgram = {
  readonly key: string;
  readonly input: readonly string[];
  readonly steps: readonly GraphStep[];
  readonly result: readonly { readonly name: string; readonly reads: readonly GraphRead[] }[];
};

/** The present state of one step, as the graph of a program shows it: a state, and facts such as the number of rows. */
export type GraphLook = {
  readonly word: Word;
  /** Rows and time in words, such as `3 rows · 98 ms`. Empty if there are none. */
  readonly facts: string;
  /** Number of rows that later steps get from the step. Undefined if it makes none, or the number is not known. */
  readonly rowsOut: number | undefined;
  readonly hasStarted: boolean;
  readonly isRunning: boolean;
  /** Part of the rows that the step has processed, from 0 to 1. Undefined if that is not known. */
  readonly progress: number | undefined;
};

/**
 * The present state of a running program, as its graph shows it: the state of each step by id, and whether the program has started and
 * succeeded.
 */
export type GraphRun = {
  readonly looks: ReadonlyMap<string, GraphLook>;
  readonly hasStarted: boolean;
  readonly hasSucceeded: boolean;
};

/** Properties of a program's graph. */
export type GraphProps = {
  /** Accessible name of the graph. */
  label: string;
  program: GraphProgram;
  /** State of the program's run. Undefined if the graph only shows the program. */
  run: GraphRun | undefined;
  /** Id of the step that is selected. */
  selected: string | undefined;
  /** Called when the user chooses a step. Undefined if steps cannot be chosen. */
  onSelect: ((id: string) => void) | undefined;
};

/** A node of the graph. `step`: the step that the node stands for; undefined for the input and the result. */
export type GraphNode = {
  readonly id: string;
  readonly step: GraphStep | undefined;
  /** Box that contains the node. */
  readonly box: string | undefined;
  /** Number of steps inside a closed block. 0 for any other node. */
  readonly inside: number;
  /** Data that the step, and the steps inside its node, read. */
  readonly reads: readonly GraphRead[];
};

/**
 * A box in the graph around the steps inside another step, such as a loop. `handles`: true if these steps run only if that other step fails.
 */
export type GraphBox = {
  readonly id: string;
  readonly step: GraphStep;
  readonly box: string | undefined;
  readonly handles: boolean;
  readonly branches: number;
};

/**
 * An edge of a program's graph. If `reads` is not empty, the node `to` reads data of the node `from`; otherwise it only runs later. `words`:
 * the condition of the edge, such as `else`. `isLoose`: the two nodes may be in one column.
 */
export type GraphEdge = {
  readonly from: string;
  readonly to: string;
  readonly reads: readonly GraphRead[];
  readonly words: string;
  readonly isLoose: boolean;
};

/** The graph of a program: its nodes in program order, the boxes around nodes (outer boxes first), and the edges. */
export type GraphModel = {
  readonly nodes: readonly GraphNode[];
  readonly boxes: readonly GraphBox[];
  readonly edges: readonly GraphEdge[];
};

/** Ids of the nodes of the program's input and result. The nodes of steps have the prefix `step:`. */
export const inputNode = "input";
export const resultNode = "result";

/** Number of steps from which the graph opens with closed blocks. */
const manySteps = 60;

/** True if the step contains other steps and the user can close it. */
function isBlock({ kind }: GraphStep): boolean {
  return kind === "if" || kind === "parallel" || kind === "until";
}

/** Returns the ids of the blocks that are closed when a graph opens: all blocks of a program with more than 60 steps. */
export function closedAtFirst({ steps }: GraphProgram): ReadonlySet<string> {
  return new Set(steps.length > manySteps ? steps.filter(isBlock).map(({ id }) => id) : []);
}

/** Returns the id of the node that shows a step. */
function nodeOfStep(id: string): string {
  return `step:${id}`;
}

/** An end of a drawn step, from which the next step follows. `words`: the condition under which it follows. */
type Exit = { readonly node: string; readonly words: string };

/** A graph that is being drawn. */
type Drawing = {
  readonly steps: readonly GraphStep[];
  readonly closed: ReadonlySet<string>;
  readonly nodes: GraphNode[];
  readonly boxes: GraphBox[];
  /** The order in which nodes run: `to` follows `from`. */
  readonly orders: { readonly from: Exit; readonly to: string }[];
  /** The node that shows a step. Several steps have the same node if it is closed, or if it is a `map` with its calls. */
  readonly shownBy: Map<string, string>;
};

/** Returns the graph of a program. `closed`: ids of the blocks that are drawn as a single node. */
export function buildGraph({ steps, result }: GraphProgram, closed: ReadonlySet<string>): GraphModel {
  const drawing: Drawing = { steps, closed, nodes: [], boxes: [], orders: [], shownBy: new Map() };
  const { nodes, boxes, orders } = drawing;
  nodes.push({ id: inputNode, step: undefined, box: undefined, reads: [], inside: 0 });
  const exits = drawList(drawing, listOf(drawing, "", ""), [{ node: inputNode, words: "" }], undefined);
  const reads = result.flatMap((value) => value.reads);
  nodes.push({ id: resultNode, step: undefined, box: undefined, reads, inside: 0 });
  for (const from of exits) orders.push({ from, to: resultNode });
  const place = new Map(nodes.map(({ id }, index) => [id, index]));
  return { nodes, boxes, edges: withOrder(dataEdges(drawing, reads, place), drawing, place) };
}

function listOf({ steps }: Drawing, parentId: string, branch: string): readonly GraphStep[] {
  return steps.filter((step) => step.parentId === parentId && step.branch === branch);
}

/** Returns every step inside a step, at any depth. */
function insideOf(drawing: Drawing, id: string): readonly GraphStep[] {
  return drawing.steps
    .filter(({ parentId }) => parentId === id)
    .flatMap((step) => [step, ...insideOf(drawing, step.id)]);
}

/** Returns the names of the lists inside a block, without its error handler. */
function branchesOf({ steps }: Drawing, { id }: GraphStep): readonly string[] {
  return [
    ...new Set(steps.flatMap(({ parentId, branch }) => (parentId === id && branch !== "onError" ? [branch] : []))),
  ];
}

function drawList(
  drawing: Drawing,
  list: readonly GraphStep[],
  before: readonly Exit[],
  box: string | undefined,
): readonly Exit[] {
  return list.reduce((exits, step) => drawStep(drawing, step, exits, box), before);
}

function drawStep(
  drawing: Drawing,
  step: GraphStep,
  before: readonly Exit[],
  around: string | undefined,
): readonly Exit[] {
  if (isBlock(step) && drawing.closed.has(step.id))
    return drawNode(drawing, { step, inner: insideOf(drawing, step.id), before, box: around });
  const calls = step.kind === "map" ? listOf(drawing, step.id, "do") : [];
  const exits = isBlock(step)
    ? drawBlock(drawing, step, before, around)
    : drawNode(drawing, { step, inner: calls, before, box: around });
  const handler = listOf(drawing, step.id, "onError");
  if (handler.length === 0) return exits;
  const box = `handler:${step.id}`;
  drawing.boxes.push({ id: box, step, box: around, handles: true, branches: 1 });
  drawList(
    drawing,
    handler,
    exits.slice(0, 1).map(({ node }) => ({ node, words: "on error" })),
    box,
  );
  return exits;
}

/** Draws a block as a box. An `if` has a node at its start, an `until` has one at its end, because it decides there. */
function drawBlock(
  drawing: Drawing,
  step: GraphStep,
  before: readonly Exit[],
  around: string | undefined,
): readonly Exit[] {
  const { id, kind } = step;
  const branches = branchesOf(drawing, step);
  const box = `box:${id}`;
  drawing.boxes.push({ id: box, step, box: around, handles: false, branches: branches.length });
  if (kind === "until") {
    const round = drawList(drawing, listOf(drawing, id, "do"), before, box);
    return drawNode(drawing, { step, inner: [], before: round, box });
  }
  const asked = kind === "if" ? drawNode(drawing, { step, inner: [], before, box }) : before;
  const ends = branches.flatMap((branch) => {
    const start = kind === "if" ? asked.map(({ node }) => ({ node, words: branch })) : asked;
    return drawList(drawing, listOf(drawing, id, branch), start, box);
  });
  if (kind === "if")
    return branches.includes("else") ? ends : [...ends, ...asked.map(({ node }) => ({ node, words: "else" }))];
  // A parallel has no node of its own. Its errors, and the data that its condition reads, belong to its first step.
  const first = drawing.shownBy.get(insideOf(drawing, id)[0]?.id ?? "");
  if (first !== undefined) drawing.shownBy.set(id, first);
  return ends;
}

type OneNode = { step: GraphStep; inner: readonly GraphStep[]; before: readonly Exit[]; box: string | undefined };

/** Draws a step as one node, together with the steps inside it. */
function drawNode({ nodes, orders, shownBy }: Drawing, { step, inner, before, box }: OneNode): readonly Exit[] {
  const id = nodeOfStep(step.id);
  for (const shown of [step, ...inner]) shownBy.set(shown.id, id);
  const reads = [...step.reads, ...inner.flatMap((one) => one.reads)];
  nodes.push({ id, step, box, reads, inside: isBlock(step) ? inner.length : 0 });
  for (const from of before) orders.push({ from, to: id });
  return [{ node: id, words: "" }];
}

type Places = ReadonlyMap<string, number>;

/** Returns an edge for each pair of nodes of which the later one reads data of the earlier one. */
function dataEdges({ steps, shownBy }: Drawing, ofResult: readonly GraphRead[], place: Places): readonly GraphEdge[] {
  const edges = new Map<string, GraphEdge>();
  const readers = steps.map(({ id, reads }) => ({ to: shownBy.get(id) ?? inputNode, reads }));
  for (const { to, reads } of [...readers, { to: resultNode, reads: ofResult }]) {
    for (const read of reads) {
      const from = read.what === "input" || read.what === "params" ? inputNode : (shownBy.get(read.from) ?? to);
      if ((place.get(from) ?? 0) >= (place.get(to) ?? 0)) continue;
      const key = `${from} ${to}`;
      edges.set(key, { from, to, reads: [...(edges.get(key)?.reads ?? []), read], words: "", isLoose: false });
    }
  }
  return [...edges.values()];
}

/** Returns the edges of data, and those edges of order that no chain of other edges implies. */
function withOrder(data: readonly GraphEdge[], { nodes, orders }: Drawing, place: Places): readonly GraphEdge[] {
  const edges = [...data];
  /** For each node, the nodes from which a chain of edges leads to it. */
  const before = new Map<string, ReadonlySet<string>>();
  for (const { id } of nodes) {
    const into = data.filter(({ to }) => to === id);
    const reached = new Set(into.flatMap(({ from }) => [from, ...(before.get(from) ?? [])]));
    // A node that reads another step may share its column with the step that runs before it.
    const isLoose = into.some(({ from }) => from !== inputNode);
    const own = orders.filter(({ to }) => to === id).map(({ from }) => from);
    for (const { node, words } of own.toSorted((a, b) => (place.get(b.node) ?? 0) - (place.get(a.node) ?? 0))) {
      if (reached.has(node) && (words === "" || into.some(({ from }) => from === node))) continue;
      edges.push({ from: node, to: id, reads: [], words, isLoose });
      for (const earlier of [node, ...(before.get(node) ?? [])]) reached.add(earlier);
    }
    before.set(id, reached);
  }
  return edges;
}
