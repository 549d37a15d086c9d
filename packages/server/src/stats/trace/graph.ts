import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Remedy } from "@svc/gen/failures";
import {
  type Cause,
  CauseSchema,
  type Relation,
  Tone,
  TraceEdgeSchema,
  TraceGapReason,
  TraceGapSchema,
  TraceKind,
  TraceNodeSchema,
  type TraceResponse,
  TraceResponseSchema,
} from "@svc/gen/stats";
import type { TracedNode } from "./nodes.ts";

/** Relation of two nodes. `from`: id of the cause. `to`: id of the effect. */
type Edge = { readonly from: string; readonly to: string; readonly relation: Relation };

/** Nodes that a resource needs: where its deliveries go, and which account its calls use. A path to the root leaves them out. */
const supports: ReadonlySet<TraceKind> = new Set([TraceKind.SUBSCRIPTION, TraceKind.ACCOUNT]);

/** Nodes whose own state does not say if something below them failed. */
const neutral: ReadonlySet<TraceKind> = new Set([
  ...[TraceKind.POST, TraceKind.EVENT, TraceKind.SUBSCRIPTION, TraceKind.SCHEDULE, TraceKind.ACCOUNT],
]);

/** Maximum number of resources of a kind below one node. */
const childrenMax = 20;

/**
 * The graph of a trace (causes and effects of one resource, such as a job) while svc builds it. It never has more than `nodesMax` nodes.
 */
export class TraceGraph {
  readonly #nodes = new Map<string, TracedNode>();
  readonly #edges: Edge[] = [];
  readonly #gaps = new Map<string, { nodeId: string; kind: TraceKind; reason: TraceGapReason }>();
  readonly #focus: string;
  readonly #nodesMax: number;

  /** `focus`: id of the node from which the graph is made. */
  constructor(focus: string, nodesMax: number) {
    this.#focus = focus;
    this.#nodesMax = nodesMax;
  }

  /** Adds a node. Returns false if the graph is full; a gap next to `near` then says so. A known node is not added again. */
  add(node: TracedNode, near = this.#focus): boolean {
    if (this.#nodes.has(node.id)) return true;
    if (this.#nodes.size >= this.#nodesMax) {
      this.gap(near, node.kind, TraceGapReason.NODE_LIMIT);
      return false;
    }
    this.#nodes.set(node.id, node);
    return true;
  }

  /** Adds a node and the edge from its cause. */
  addEffect(from: string, node: TracedNode, relation: Relation): void {
    if (this.add(node, from)) this.#edges.push({ from, to: node.id, relation });
  }

  /** Adds a node and the edge to its effect. */
  addCause(to: string, node: TracedNode, relation: Relation): void {
    if (this.add(node, to)) this.#edges.push({ from: node.id, to, relation });
  }

  /**
   * Adds the effects of one kind of a node, of which the newest come last. Of more than 20, it adds those with problems first, then the
   * newest, and a folded node for the others. `listFilter`: the filter of the list call that returns all of them. Returns the ids of the
   * added effects.
   */
  addEffects(from: string, nodes: readonly TracedNode[], relation: Relation, listFilter = ""): ReadonlySet<string> {
    const room = this.#nodesMax - this.#nodes.size;
    const isFolded = nodes.length > Math.min(childrenMax, room);
    const ranked = nodes.toReversed().sort((a, b) => Number(isBad(b)) - Number(isBad(a)));
    const most = Math.min(childrenMax, isFolded ? room - 1 : room);
    const shown = new Set(ranked.slice(0, Math.max(0, most)).map(({ id }) => id));
    for (const node of nodes) if (shown.has(node.id)) this.addEffect(from, node, relation);
    const [first] = nodes;
    if (first === undefined || !isFolded) return shown;
    if (shown.size < childrenMax) this.gap(from, first.kind, TraceGapReason.NODE_LIMIT);
    const count = nodes.length - shown.size;
    const base = { kind: first.kind, state: "", tone: Tone.IDLE, summary: "The graph does not show them one by one." };
    const title = `${count} or more of the same kind`;
    const folded = { count, listFilter };
    this.addEffect(from, { id: `more_${first.kind}_of_${from}`, title, ...base, folded }, relation);
    return shown;
  }

  /** Says that resources of a kind are missing next to a node. */
  gap(nodeId: string, kind: TraceKind, reason: TraceGapReason): void {
    this.#gaps.set(`${nodeId} ${kind} ${reason}`, { nodeId, kind, reason });
  }

  /** Returns the graph as the answer of Trace. */
  answer(): TraceResponse {
    return create(TraceResponseSchema, {
      focus: this.#focus,
      nodes: [...this.#nodes.values()].map(nodeMessage),
      edges: this.#edges
        .filter(({ from, to }) => this.#nodes.has(from) && this.#nodes.has(to))
        .map((edge) => create(TraceEdgeSchema, edge)),
      gaps: [...this.#gaps.values()].map((gap) => create(TraceGapSchema, gap)),
      why: this.#why(),
    });
  }

  /** Returns the chain of causes: to the problem if there is one, otherwise to the root. */
  #why(): Cause[] {
    const problem = this.#problemPath(this.#focus, new Set());
    return (problem ?? this.#originPath()).flatMap((id) => {
      const node = this.#nodes.get(id);
      return node === undefined ? [] : [causeOf(node)];
    });
  }

  /** Returns the path from a node to the first cause of its problem. Undefined if neither the node nor its effects have a problem. */
  #problemPath(id: string, seen: Set<string>): string[] | undefined {
    const node = this.#nodes.get(id);
    if (node === undefined || seen.has(id)) return undefined;
    seen.add(id);
    const isProblem = isBad(node);
    for (const one of isEnd(node, id === this.#focus) ? [] : this.#causesOf(node)) {
      const below = this.#problemPath(one, seen);
      if (below !== undefined) return [id, ...below];
    }
    return isProblem ? [id] : undefined;
  }

  /** Returns the ids of the supports and effects that may have caused the state of a node, the most likely first. */
  #causesOf(node: TracedNode): string[] {
    const next = [...this.#supportsOf(node.id), ...this.#effectsOf(node.id)].flatMap((id) => this.#nodes.get(id) ?? []);
    return next
      .filter((one) => mayCause(one, node))
      .sort((a, b) => weightOf(node, b) - weightOf(node, a))
      .map(({ id }) => id);
  }

  #supportsOf(id: string): string[] {
    const causes = this.#edges.filter(({ to }) => to === id).map(({ from }) => from);
    return causes.filter((from) => supports.has(this.#nodes.get(from)?.kind ?? TraceKind.UNSPECIFIED));
  }

  /** Returns the effects of a node, the newest first, because the newest failure ended the job or the run. */
  #effectsOf(id: string): string[] {
    return this.#edges
      .filter(({ from }) => from === id)
      .map(({ to }) => to)
      .reverse();
  }

  /** Returns the path from the focus up to the resource with which everything began. */
  #originPath(): string[] {
    const path = [this.#focus];
    for (let id: string | undefined = this.#focus; id !== undefined; ) {
      const at: string = id;
      const causes = this.#edges.filter(({ to }) => to === at).map(({ from }) => from);
      // An event explains more than the schedule that waited for it.
      id = causes
        .filter((from) => !supports.has(this.#nodes.get(from)?.kind ?? TraceKind.UNSPECIFIED) && !path.includes(from))
        .sort((a, b) => Number(this.#isSchedule(a)) - Number(this.#isSchedule(b)))[0];
      if (id !== undefined) path.push(id);
    }
    return path;
  }

  #isSchedule(id: string): boolean {
    return this.#nodes.get(id)?.kind === TraceKind.SCHEDULE;
  }
}

/** True if no cause of a problem is behind a node: a good or idle one, or a support, because its effects did not cause its state. */
function isEnd(node: TracedNode, isFocus: boolean): boolean {
  if (supports.has(node.kind)) return isBad(node) || !isFocus;
  return (node.tone === Tone.OK || node.tone === Tone.IDLE) && !neutral.has(node.kind);
}

/**
 * True if a neighbor may have caused the state of a node. A job that did not fail has handled its failed child jobs, and a failed job has
 * handled all failures but those of the step in which it failed.
 */
function mayCause({ kind, tone, step }: TracedNode, node: TracedNode): boolean {
  if (node.causes?.includes(kind) === false) return false;
  if (node.kind === TraceKind.JOB && kind === TraceKind.JOB && tone === Tone.BAD && node.tone !== Tone.BAD)
    return false;
  return node.failedStep === undefined || step === node.failedStep;
}

/** Returns how likely a neighbor caused the state of a node: by the node's `causes`, then failed before waiting, supports before effects. */
function weightOf({ causes }: TracedNode, { kind, tone }: TracedNode): number {
  const weight = tone === Tone.BAD ? 4 : tone === Tone.WARN ? 2 : tone === Tone.INFO ? 1 : 0;
  const order = causes === undefined ? 0 : causes.length - causes.indexOf(kind);
  return order * 100 + weight * 10 + (supports.has(kind) ? 1 : 0);
}

function isBad({ tone }: TracedNode): boolean {
  return tone === Tone.BAD || tone === Tone.WARN;
}

function causeOf({ id, title, summary, remedy = Remedy.UNSPECIFIED, command = "" }: TracedNode): Cause {
  return create(CauseSchema, { nodeId: id, sentence: `${title}: ${summary}`, remedy, command });
}

/** Returns one resource of a trace (a graph of causes and effects) as a message of the API. */
export function nodeMessage({ atMs, durationMs = 0, folded, ...node }: TracedNode) {
  return create(TraceNodeSchema, {
    ...{ id: node.id, kind: node.kind, title: node.title, state: node.state, tone: node.tone, summary: node.summary },
    ...(atMs !== undefined && { at: timestampFromMs(atMs) }),
    durationMs: Math.min(Math.max(0, Math.round(durationMs)), 0xffffffff),
    count: folded?.count ?? 1,
    isFolded: folded !== undefined,
    listFilter: folded?.listFilter ?? "",
  });
}
