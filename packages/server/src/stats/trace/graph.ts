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

/** The graph of a trace while it is made. It never has more than `nodesMax` nodes. */
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
   * Adds the effects of one kind of a node, of which the newest come last. Of more than 20, the newest 20 are added, and a folded node for
   * the others. `listFilter`: the filter of the list call that returns all of them.
   */
  addEffects(from: string, nodes: readonly TracedNode[], relation: Relation, listFilter = ""): void {
    for (const node of nodes.slice(-childrenMax)) this.addEffect(from, node, relation);
    const [first] = nodes;
    if (first === undefined || nodes.length <= childrenMax) return;
    const count = nodes.length - childrenMax;
    const base = { kind: first.kind, state: "", tone: Tone.IDLE, summary: "They are older than those shown." };
    const title = `${count} or more of the same kind`;
    this.addEffect(
      from,
      { id: `more_${first.kind}_of_${from}`, title, ...base, folded: { count, listFilter } },
      relation,
    );
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
    if (!isProblem && !neutral.has(node.kind)) return undefined;
    const next = [...this.#supportsOf(id), ...this.#effectsOf(id)].sort((a, b) => this.#weight(b) - this.#weight(a));
    for (const one of next) {
      const below = this.#problemPath(one, seen);
      if (below !== undefined) return [id, ...below];
    }
    return isProblem ? [id] : undefined;
  }

  /** Returns how likely a node is the cause of a problem: failed nodes before waiting ones, and supports before effects. */
  #weight(id: string): number {
    const node = this.#nodes.get(id);
    if (node === undefined) return 0;
    const weight = node.tone === Tone.BAD ? 4 : node.tone === Tone.WARN ? 2 : 0;
    return weight + (supports.has(node.kind) ? 1 : 0);
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

function isBad({ tone }: TracedNode): boolean {
  return tone === Tone.BAD || tone === Tone.WARN;
}

function causeOf({ id, title, summary, remedy = Remedy.UNSPECIFIED, command = "" }: TracedNode): Cause {
  return create(CauseSchema, { nodeId: id, sentence: `${title}: ${summary}`, remedy, command });
}

/** Returns a node as a message of the API. */
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
