import type { ConnectedAccount } from "@svc/db/connections/account";
import type { Delivery } from "@svc/db/deliveries/repo";
import type { JobRecord } from "@svc/db/jobs/record";
import { Relation, Tone, TraceGapReason, TraceKind } from "@svc/gen/stats";
import { expect, test } from "vitest";
import { TraceGraph } from "./graph.ts";
import { accountNode, callNode, deliveryNode, endpointNode, jobNode, type TracedNode } from "./nodes.ts";

// The chain of causes, and which effects a graph shows, for states that are hard to reach with a running server.

const id = (prefix: string, n: number) => `${prefix}_01h455vb4pex5vsknk084sn${String(n).padStart(3, "0")}`;
const node = (kind: TraceKind, n: number, tone: Tone, more: Partial<TracedNode> = {}): TracedNode => ({
  ...{ id: `node_${n}`, kind, title: "t", state: "", tone, summary: "s.", ...more },
});
const { EVENT, RUN, JOB, ASK, CALL, ACCOUNT } = TraceKind;
const { OK, INFO, WARN, BAD, IDLE } = Tone;

/** Returns the ids of the chain of causes of the first of these nodes, which the edges `[from, to]` connect. */
function whyOf(nodes: readonly TracedNode[], edges: readonly (readonly [from: string, to: string])[]): string[] {
  const graph = new TraceGraph(nodes[0]?.id ?? "", 60);
  const byId = new Map(nodes.map((one) => [one.id, one]));
  for (const one of nodes) graph.add(one);
  for (const [from, to] of edges) graph.addEffect(from, byId.get(to) as TracedNode, Relation.RAN);
  return graph.answer().why.map(({ nodeId }) => nodeId);
}

const job = (n: number, more: Partial<JobRecord>) => {
  const row: Partial<JobRecord> = { createdAt: n, finishedAt: null, lastError: "", park: null, child: null };
  const estimate = { entities: [] };
  return jobNode({ ...row, estimate, id: id("job", n), status: "running", ...more } as unknown as JobRecord, "");
};
const call = (n: number, outcome: string, stepId = "") =>
  callNode(
    { id: id("call", n), toolSlug: "a.b", outcome, stepId, createdAt: n, durationMs: 1 } as never,
    "",
    () => undefined,
  );
const endpoint = {
  ...{ id: id("sub", 1), kind: "project", endpointUrl: "https://a.example", active: true, inactiveReason: "" },
  ...{ failingSince: 1, pausedAt: null, createdAt: 1 },
} as unknown as Parameters<typeof endpointNode>[0];
const delivery = (n: number, more: Partial<Delivery>) =>
  deliveryNode({ id: id("dlv", n), attempts: 3, nextAttemptAt: null, ...more } as Delivery, endpoint);
const account = (more: Partial<ConnectedAccount>, nowMs = 10) => {
  const row = { toolkitSlug: "crm", entityId: "ada", lastError: "", createdAt: 1, state: "active", expiresAt: null };
  return accountNode({ id: id("acc", 1), ...row, ...more } as ConnectedAccount, nowMs);
};
const wait = (reason: string) => ({ status: "parked", park: { reason, stepId: "", since: 1 } }) as Partial<JobRecord>;

test("a cause is found behind resources that are in progress", () => {
  const nodes = [
    node(EVENT, 1, IDLE),
    node(RUN, 2, INFO),
    job(1, wait("child")),
    job(2, wait("judgment")),
    node(ASK, 3, WARN),
  ];
  const [event, run, parent, child, ask] = nodes.map((one) => one.id) as [string, string, string, string, string];
  const edges = [
    [event, run],
    [run, parent],
    [parent, child],
    [child, ask],
  ] as const;
  expect(whyOf(nodes, edges)).toEqual([event, run, parent, child, ask]);
  const first = delivery(1, { state: "pending", attempts: 0, lastError: "" });
  expect(whyOf([first, endpointNode(endpoint)], [[endpoint.id, first.id]])).toEqual([first.id, endpoint.id]);
});

test("an account and an endpoint are causes only of the outcomes that they explain", () => {
  const expired = account({ state: "expired" });
  for (const [outcome, isCause] of [
    ["account_unusable", true],
    ["provider_error", false],
    ["timeout", false],
  ] as const) {
    const failed = call(1, outcome);
    expect(whyOf([failed, expired], [[expired.id, failed.id]]), outcome).toEqual([
      failed.id,
      ...(isCause ? [expired.id] : []),
    ]);
  }
  const dead = delivery(1, { state: "dead_letter", lastError: "http_410" });
  expect(whyOf([dead, endpointNode(endpoint)], [[endpoint.id, dead.id]])).toEqual([dead.id]);
  const ended = delivery(1, { state: "dead_letter", lastError: "subscription_inactive" });
  expect(whyOf([ended, endpointNode(endpoint)], [[endpoint.id, ended.id]])).toEqual([ended.id, endpoint.id]);
  const unmade = delivery(1, { state: "pending", lastError: "body_invalid: no such field" });
  expect(whyOf([unmade, endpointNode(endpoint)], [[endpoint.id, unmade.id]])).toEqual([unmade.id]);
});

test("a failure that the program handled is not the cause of its job", () => {
  const failed = job(1, { status: "failed", lastError: "provider_error: step last: no", finishedAt: 9 });
  const nodes = [failed, call(1, "timeout", "first"), call(2, "provider_error", "last"), call(3, "timeout", "other")];
  const edges = nodes.slice(1).map((one) => [failed.id, one.id] as const);
  expect(whyOf(nodes, edges)).toEqual([failed.id, id("call", 2)]);
  const late = job(1, { status: "expired", lastError: "DEADLINE: it took too long", finishedAt: 9 });
  expect(whyOf([late, call(1, "timeout", "first")], [[late.id, id("call", 1)]])).toEqual([late.id]);
  const child = job(2, { status: "failed", finishedAt: 9, child: { stepId: "first" } as never });
  const waiting = job(1, wait("child"));
  const post = node(EVENT, 1, IDLE);
  expect(
    whyOf(
      [waiting, child, post],
      [
        [waiting.id, child.id],
        [post.id, waiting.id],
      ],
    ),
  ).toEqual([waiting.id, post.id]);
});

test("a problem of an endpoint or account is not explained by what it caused", () => {
  const dead = delivery(1, { state: "dead_letter", lastError: "http_500" });
  expect(whyOf([endpointNode(endpoint), dead], [[endpoint.id, dead.id]])).toEqual([endpoint.id]);
  const expired = account({ state: "expired" });
  expect(whyOf([expired, call(1, "account_unusable")], [[expired.id, id("call", 1)]])).toEqual([expired.id]);
});

test("an account whose credential ran out is expired, as lists show it", () => {
  expect(account({ expiresAt: 10 })).toMatchObject({ state: "expired", tone: BAD });
  expect(account({ expiresAt: 11 })).toMatchObject({ state: "active", tone: OK });
});

test("effects with problems are shown first, then the newest, and the folded node counts the others", () => {
  const calls = Array.from({ length: 30 }, (_, n) => node(CALL, n, n === 2 ? BAD : OK));
  const graph = new TraceGraph("node_90", 200);
  graph.add(node(JOB, 90, OK));
  const shown = [...graph.addEffects("node_90", calls, Relation.CALLED, "jobId=job_1")];
  const expected = ["node_2", ...calls.slice(-19).map((one) => one.id)];
  expect(shown.toSorted()).toEqual(expected.toSorted());
  const { nodes } = graph.answer();
  expect(nodes.slice(1, -1).map((one) => one.id)).toEqual(expected);
  expect(nodes.at(-1)).toMatchObject({ isFolded: true, count: 10, listFilter: "jobId=job_1" });
});

test("a graph that has no room for all effects keeps those with problems, and says that more exist", () => {
  const graph = new TraceGraph("node_90", 5);
  graph.add(node(JOB, 90, OK));
  graph.add(node(ACCOUNT, 91, OK));
  graph.addEffects("node_90", [node(CALL, 1, BAD), ...[2, 3, 4].map((n) => node(CALL, n, OK))], Relation.CALLED);
  const { nodes, gaps } = graph.answer();
  expect(nodes.slice(2).map((one) => one.id)).toEqual(["node_1", "node_4", `more_${CALL}_of_node_90`]);
  expect(nodes.at(-1)?.count).toBe(2);
  expect(gaps).toMatchObject([{ nodeId: "node_90", kind: CALL, reason: TraceGapReason.NODE_LIMIT }]);
});
