import { Remedy } from "@svc/gen/failures";
import {
  type Cause,
  Relation,
  TraceGapReason,
  TraceKind,
  type TraceNode,
  type TraceResponse,
  Tone as TraceTone,
} from "@svc/gen/stats";
import { idPages, type NavPage } from "../shell/pages.ts";
import type { IconName } from "../ui/icon.tsx";
import type { KindColour } from "../ui/marks/tiles.tsx";
import type { Tone } from "./word.ts";

type KindWords = { icon: IconName; colour: KindColour; one: string; many: string };

/** Icon and names of each kind of resource in traces and search results. */
const kinds: Record<TraceKind, KindWords> = {
  [TraceKind.UNSPECIFIED]: { icon: "dot", colour: "plain", one: "resource", many: "resources" },
  [TraceKind.POST]: { icon: "ingest", colour: "event", one: "webhook post", many: "webhook posts" },
  [TraceKind.EVENT]: { icon: "event", colour: "event", one: "event", many: "events" },
  [TraceKind.DELIVERY]: { icon: "delivery", colour: "delivery", one: "delivery", many: "deliveries" },
  [TraceKind.SUBSCRIPTION]: { icon: "subscription", colour: "delivery", one: "endpoint", many: "endpoints" },
  [TraceKind.SCHEDULE]: { icon: "schedule", colour: "schedule", one: "schedule", many: "schedules" },
  [TraceKind.RUN]: { icon: "play", colour: "schedule", one: "run", many: "runs" },
  [TraceKind.JOB]: { icon: "job", colour: "job", one: "job", many: "jobs" },
  [TraceKind.ASK]: { icon: "approval", colour: "ask", one: "question", many: "questions" },
  [TraceKind.CALL]: { icon: "calls", colour: "call", one: "call", many: "calls" },
  [TraceKind.ACCOUNT]: { icon: "plug", colour: "plain", one: "account", many: "accounts" },
  [TraceKind.SAVED_TOOL]: { icon: "skill", colour: "plain", one: "saved tool", many: "saved tools" },
  [TraceKind.PERSON]: { icon: "contact", colour: "plain", one: "person", many: "people" },
};

/** Returns the icon and the names of a kind of resource. A newer service may send a kind that this console does not know. */
export function kindWords(kind: TraceKind): KindWords {
  return kinds[kind] ?? kinds[TraceKind.UNSPECIFIED];
}

/** Returns the name of several resources of a kind as a heading, such as "Deliveries". */
export function manyWords(kind: TraceKind): string {
  const { many } = kindWords(kind);
  return `${many.slice(0, 1).toUpperCase()}${many.slice(1)}`;
}

const tones: Record<TraceTone, Tone> = {
  [TraceTone.UNSPECIFIED]: "plain",
  [TraceTone.OK]: "ok",
  [TraceTone.INFO]: "info",
  [TraceTone.WARN]: "warn",
  [TraceTone.BAD]: "bad",
  [TraceTone.IDLE]: "plain",
};

/**
 * One part of the trace strip (the row of causes and effects on a page): a resource, or all effects of one kind. `isHere`: true for the
 * page's own resource. `node`: the resource, if it is only one. `callsOf`: id of the job that made these calls.
 */
export type TraceChip = {
  readonly id: string;
  readonly icon: IconName;
  readonly colour: KindColour;
  readonly label: string;
  readonly detail: string;
  readonly tone: Tone;
  readonly says: string;
  readonly isHere: boolean;
  readonly node?: TraceNode;
  readonly callsOf?: string;
};

/** Relations to an endpoint or an account, which other resources need but which is not the reason for their existence. */
const needs: ReadonlySet<Relation> = new Set([Relation.RECEIVED, Relation.USED_FOR]);

/**
 * Returns the parts of the trace strip for the resource of a page: its causes from the first on, the resource itself, its effects by kind,
 * and the endpoint or account that it needs.
 */
export function stripChips(trace: TraceResponse): readonly TraceChip[] {
  const { focus, nodes, edges } = trace;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const nodesOf = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? []);
  const needed = edges.filter(({ to, relation }) => to === focus && needs.has(relation)).map(({ from }) => from);
  return [
    ...nodesOf([...pathTo(trace), focus]).map((node) => nodeChip(node, focus)),
    ...effectsOf(trace).map((group) => groupChip(group, trace)),
    ...nodesOf(needed).map((node) => nodeChip(node, focus)),
  ];
}

/** Returns the ids of the causes of the focus, the first cause first. An event explains more than the schedule that waited for it. */
function pathTo({ focus, nodes, edges }: TraceResponse): string[] {
  const schedules = new Set(nodes.filter(({ kind }) => kind === TraceKind.SCHEDULE).map(({ id }) => id));
  const path: string[] = [];
  for (let at: string | undefined = focus; at !== undefined; ) {
    const below: string = at;
    const causes = edges.filter(({ to, relation }) => to === below && !needs.has(relation)).map(({ from }) => from);
    const unseen = causes.filter((id) => id !== focus && !path.includes(id));
    at = unseen.find((id) => !schedules.has(id)) ?? unseen[0];
    if (at !== undefined) path.unshift(at);
  }
  return path;
}

/** Returns all effects of the focus, grouped by kind: deliveries, runs, jobs, questions, then calls. */
function effectsOf({ focus, nodes, edges }: TraceResponse): readonly (readonly TraceNode[])[] {
  const found = new Set([focus]);
  // A set also returns the ids that are added while it is read.
  for (const id of found) {
    for (const { from, to, relation } of edges) if (from === id && !needs.has(relation)) found.add(to);
  }
  found.delete(focus);
  const effects = nodes.filter(({ id }) => found.has(id)).sort((a, b) => a.kind - b.kind);
  return [...Map.groupBy(effects, ({ kind }) => kind).values()];
}

const labels = /^(Webhook post|Event|Delivery|Endpoint|Schedule|Run|Job|Approval|Question|Call|Account)\b ?(.*)$/s;

function nodeChip(node: TraceNode, focus: string): TraceChip {
  const { id, kind, title, tone, summary } = node;
  const [, word = title, detail = ""] = labels.exec(title) ?? [];
  const isHere = id === focus;
  const label = isHere ? `This ${word.toLowerCase()}` : kind === TraceKind.POST ? "Post" : word;
  const { icon, colour } = kindWords(kind);
  const base = { id, icon, colour, label, tone: tones[tone] ?? "plain", isHere, node };
  // The page of the focus has its title as heading.
  return { ...base, detail: isHere ? "" : detail, says: `${title}: ${summary}` };
}

function groupChip(group: readonly TraceNode[], { focus, edges }: TraceResponse): TraceChip {
  const [first] = group;
  if (first !== undefined && group.length === 1 && !first.isFolded) return nodeChip(first, focus);
  const { icon, colour, many } = kindWords(first?.kind ?? TraceKind.UNSPECIFIED);
  const count = group.reduce((sum, node) => sum + node.count, 0);
  const label = `${count}${group.some(({ isFolded }) => isFolded) ? "+" : ""} ${many}`;
  const of = (tone: TraceTone) => group.filter((node) => node.tone === tone).length;
  const [failed, waiting, moving] = [of(TraceTone.BAD), of(TraceTone.WARN), of(TraceTone.INFO)];
  const detail = failed > 0 ? `${failed} failed` : waiting > 0 ? `${waiting} waiting` : "";
  const tone = failed > 0 ? "bad" : waiting > 0 ? "warn" : moving > 0 ? "info" : of(TraceTone.OK) > 0 ? "ok" : "plain";
  const ids = new Set(group.map(({ id }) => id));
  const owners = new Set(
    edges.filter(({ to, relation }) => ids.has(to) && !needs.has(relation)).map(({ from }) => from),
  );
  const [callsOf] = first?.kind === TraceKind.CALL && owners.size === 1 ? owners : [];
  const base = { id: `all_${first?.kind}`, icon, colour, label, detail, tone, isHere: false } as const;
  return { ...base, says: detail === "" ? label : `${label}, ${detail}`, ...(callsOf !== undefined && { callsOf }) };
}

/**
 * A link that may help to solve a failure: to the page of a resource, to the list of accounts, or to the editor with the program of a job.
 */
export type TraceRemedy = { readonly words: string } & (
  | { readonly id: string }
  | { readonly list: "accounts" }
  | { readonly programOf: string }
);

/** Why the focus of a trace failed: the sentence about it, the sentence about the first cause if it is another one, and a link. */
type TraceFailure = { readonly title: string; readonly because: string; readonly remedy: TraceRemedy | undefined };

/** Returns why the resource of a page failed, from its trace of causes; undefined if it did not fail. */
export function whyOf(trace: TraceResponse): TraceFailure | undefined {
  const { why, nodes, focus } = trace;
  const [first] = why;
  const node = nodes.find(({ id }) => id === focus);
  if (first === undefined || (node?.tone !== TraceTone.BAD && node?.tone !== TraceTone.WARN)) return undefined;
  const last = why.at(-1);
  const remedies = why.toReversed().flatMap((cause) => remedyOf(cause, trace) ?? []);
  return { title: node.summary, because: last === first ? "" : (last?.sentence ?? ""), remedy: remedies[0] };
}

/** Returns the link for the remedy of a cause. Undefined if there is none, or if the page of the focus has the button itself. */
function remedyOf({ nodeId, remedy }: Cause, { focus, nodes, edges }: TraceResponse): TraceRemedy | undefined {
  const near = (kind: TraceKind) => {
    const beside = edges.flatMap(({ from, to }) => (from === nodeId ? [to] : to === nodeId ? [from] : []));
    return [nodeId, ...beside].find((id) => nodes.some((node) => node.id === id && node.kind === kind));
  };
  const link = (words: string, id: string | undefined) =>
    id === undefined || id === focus ? undefined : { words, id };
  const job = near(TraceKind.JOB);
  const account = near(TraceKind.ACCOUNT);
  switch (remedy) {
    case Remedy.RECONNECT_ACCOUNT:
      return link("Reconnect the account", account) ?? { words: "Reconnect the account", list: "accounts" };
    case Remedy.CONNECT_ACCOUNT:
      return { words: "Connect an account", list: "accounts" };
    case Remedy.RETRY_JOB:
      return link("Open the job to retry", job);
    case Remedy.EDIT_PROGRAM:
      return job === undefined ? undefined : { words: "Edit the program", programOf: job };
    case Remedy.ANSWER_ASK:
      return link("Open the question", near(TraceKind.ASK));
    case Remedy.REPAIR_ENDPOINT:
    case Remedy.TRY_ENDPOINT_NOW:
    case Remedy.EDIT_SUBSCRIPTION:
      return link("Open the endpoint", near(TraceKind.SUBSCRIPTION));
    case Remedy.RESEND_DELIVERY:
      return link("Open the delivery to resend", near(TraceKind.DELIVERY));
    case Remedy.RESUME:
      return link("Open to resume", nodeId);
    case Remedy.CHECK_APP:
      return link("Open the call", near(TraceKind.CALL));
    default:
      return undefined;
  }
}

const gapWords: Record<TraceGapReason, string> = {
  [TraceGapReason.UNSPECIFIED]: "missing",
  [TraceGapReason.DELETED]: "deleted, or older than svc keeps",
  [TraceGapReason.NOT_PERMITTED]: "not permitted for your key",
  [TraceGapReason.NOT_SEARCHED]: "more may exist",
  [TraceGapReason.NODE_LIMIT]: "more exist than are shown",
};

/**
 * Returns a sentence that says which parts a trace leaves out, and why, such as "Deliveries: not permitted for your key". Empty if the trace
 * is complete.
 */
export function missingWords({ gaps }: TraceResponse): string {
  const lines = gaps.map(
    ({ kind, reason }) => `${manyWords(kind)}: ${gapWords[reason] ?? gapWords[TraceGapReason.UNSPECIFIED]}`,
  );
  return [...new Set(lines)].join("\n");
}

/** Returns the address of the page that shows the resource with this id. Undefined if resources of this kind have no page. */
export function pageOfId(
  id: string,
  projectId: string,
): { to: NavPage["to"]; params: Record<string, string> } | undefined {
  const page = idPages.find(({ prefix }) => id.startsWith(prefix));
  return page && { to: page.to, params: { projectId, [page.param]: id } };
}
