import { readText } from "../source.ts";
import type { UnderWay } from "./database-recording.ts";
import type { Standing } from "./history.ts";
import { answers, branch, cancels, point } from "./scenarios/desk.ts";

type ServiceAct = UnderWay["acts"][number];

/** A job of the deployment that is recorded. */
export type DeploymentJob = {
  readonly name: string;
  readonly program: object;
  readonly options?: { readonly mode?: string; readonly simulateFirst?: boolean; readonly idempotencyKey?: string };
  /** What is done before the rows are read. */
  readonly before?: readonly ServiceAct[];
  /** How it stands when they are read; absent for a job that has ended by then. */
  readonly stands?: Standing;
  /** What is done once somebody goes on with it. */
  readonly after?: readonly ServiceAct[];
};

const deals = (entity: string, limit: number, pages = 1) => ({
  id: "deals",
  call: "sales_crm.list_deals",
  entity,
  args: { limit },
  rows: {
    from: "data[]",
    key: "id",
    keep: ["id", "title", "value"],
    page: { arg: "cursor", from: "additional_data.next_cursor", max: pages },
  },
});
const send = (id: string, entity = "ops", changes: object = {}) => ({
  id,
  call: "messaging_bot.send_message",
  entity,
  args: { chat_id: "@team", text: `Message ${id}` },
  ...changes,
});
// Each of its own subject: the sandbox makes one activity of equal ones.
const plan = (id: string, subject: unknown, undoEntity = "ops") => ({
  id,
  call: "sales_crm.create_activity",
  entity: "ops",
  args: { subject },
  undo: {
    call: "sales_crm.delete_activity",
    entity: undoEntity,
    args: { activity_id: { $ref: "output.data.id" }, confirm: true },
  },
});
const fails = { id: "fails", call: "sales_crm.get_deal", entity: "sandbox:error", args: { deal_id: 1 } };
const remove = {
  id: "remove",
  call: "sales_crm.delete_deal",
  entity: "ops",
  args: { deal_id: 7, confirm: true },
};
const sendEach = (entity: string, changes: object = {}) => ({
  id: "each",
  map: "deals",
  do: [send("note", entity, { args: { chat_id: "@team", text: { $ref: "row.title" } } })],
  ...changes,
});
const gate = { id: "gate", judge: "ask" };
const saga = { approval: { plan: "never" }, saga: { on: ["failed", "aborted", "cancelled"] } };
const ladder = [{ principal: "lead", timeout: "4h" }, { principal: "owner" }];
const approved = { approval: true, question: "Go on?" };
const parked = (reason: string) => ({ status: "PARKED", reason });
const example = (name: string) => JSON.parse(readText(`docs/examples/${name}.json`)) as object;
const minimum = {
  continuations: ["proceed", "retry-with", "abort"],
  overrides: { target: "params", rerunFrom: "large" },
  answerSchema: { type: "object", additionalProperties: false, properties: { least: { type: "number" } } },
};
const answer = (...given: Parameters<typeof answers>) => answers(...given) as ServiceAct;
const cancel = (standing: Standing) => cancels(standing) as ServiceAct;

/** Jobs that have ended, of every kind of end. The one with an idempotency key becomes a skill. */
export const endedJobs: readonly DeploymentJob[] = [
  { name: "announce", program: example("announce-skill"), options: { idempotencyKey: "announce-once" } },
  {
    name: "partial",
    program: { steps: [deals("ops", 3), sendEach("sandbox:error", { tolerate: { count: 3, percent: 100 } })] },
  },
  { name: "undone", program: { ...saga, steps: [plan("first", "one"), plan("second", "two"), fails] } },
  {
    name: "aborted",
    program: { points: { ask: point() }, steps: [send("first"), gate] },
    before: [answer(parked("judgment"), "abort", { note: "not now" })],
  },
  {
    name: "rejected",
    program: { steps: [remove] },
    before: [answer({ status: "PENDING_PLAN_APPROVAL" }, "abort")],
  },
  {
    name: "cancelled",
    program: { steps: [send("first"), { id: "pause", wait: "1h" }] },
    before: [cancel(parked("wait"))],
  },
  {
    name: "expired",
    program: {
      limits: { deadline: "2s" },
      steps: [{ ...deals("sandbox:500", 1), retry: { max: 5, initial: "10s" } }],
    },
  },
  { name: "simulated", program: { steps: [deals("ops", 2), sendEach("ops")] }, options: { mode: "simulate" } },
  {
    name: "approved",
    program: { steps: [remove] },
    options: { simulateFirst: true },
    before: [answer({ status: "PENDING_PLAN_APPROVAL" }, "proceed", { principalId: "head" })],
  },
];

/** Jobs that wait for somebody, or for a time, when the rows are read. */
export const waitingJobs: readonly DeploymentJob[] = [
  // First: it takes its minute, in which others would go on.
  {
    name: "exhausted",
    program: {
      points: { ask: point({ escalation: [{ principal: "lead", timeout: "1m" }] }) },
      steps: [gate, send("last")],
    },
    stands: { ...parked("judgment"), isExhausted: true },
    after: [answer(parked("judgment"), "proceed", { principalId: "lead" })],
  },
  {
    name: "judgment",
    program: {
      params: { least: 1.0 },
      points: { ask: point({ ...minimum, question: "{rows.large}?", escalation: ladder }) },
      steps: [
        deals("ops", 5),
        { id: "large", filter: "deals", where: "row.value >= params.least" },
        gate,
        send("last"),
      ],
    },
    stands: { ...parked("judgment"), stepId: "gate" },
    after: [
      answer(parked("judgment"), "retry-with", { principalId: "lead", overridesJson: '{"least": 2}' }),
      answer(parked("judgment"), "proceed", { principalId: "lead" }),
    ],
  },
  {
    name: "unreachable",
    program: { points: { ask: point({ escalation: [{ principal: "far" }] }) }, steps: [gate, send("last")] },
    stands: parked("judgment"),
    after: [answer(parked("judgment"), "proceed", { principalId: "far" })],
  },
  {
    name: "approval",
    program: { points: { ask: approved }, steps: [send("first"), gate, send("last")] },
    stands: parked("approval"),
    after: [answer(parked("approval"), "proceed")],
  },
  {
    name: "wait",
    program: { steps: [send("first"), { id: "pause", wait: "1m" }, branch("any", "true", [send("last")])] },
    stands: parked("wait"),
  },
  {
    name: "long-wait",
    program: { ...saga, steps: [plan("first", "three"), { id: "pause", wait: "8h" }] },
    stands: parked("wait"),
    after: [cancel(parked("wait"))],
  },
  {
    name: "in-doubt",
    program: { steps: [send("cut", "sandbox:cut"), send("last")] },
    stands: parked("in_doubt"),
    after: [answer(parked("in_doubt"), "skip")],
  },
  {
    name: "undo-stuck",
    program: { ...saga, steps: [plan("first", "four"), plan("second", "five", "sandbox:error"), fails] },
    stands: parked("undo_stuck"),
    after: [answer(parked("undo_stuck"), "proceed")],
  },
  {
    name: "rows-failed",
    program: {
      points: { ask: point({ continuations: ["proceed", "retry-with", "skip", "abort"] }) },
      steps: [deals("ops", 3), sendEach("sandbox:error", { onRows: { failed: "ask" } })],
    },
    stands: { ...parked("judgment"), stepId: "each" },
    after: [answer(parked("judgment"), "retry-with"), answer(parked("judgment"), "skip")],
  },
  {
    name: "rows-unknown",
    program: {
      points: { ask: point({ continuations: ["proceed", "skip", "abort"] }) },
      steps: [deals("ops", 3), sendEach("sandbox:cut", { onRows: { unknown: "ask" } })],
    },
    stands: { ...parked("judgment"), stepId: "each" },
    after: [answer(parked("judgment"), "proceed")],
  },
  {
    name: "planned",
    program: { steps: [remove] },
    options: { simulateFirst: true },
    stands: { status: "PENDING_PLAN_APPROVAL" },
    after: [answer({ status: "PENDING_PLAN_APPROVAL" }, "proceed")],
  },
  {
    name: "postponed",
    program: { steps: [send("first"), { ...deals("sandbox:500", 1), retry: { max: 3, initial: "1h", cap: "1h" } }] },
    stands: { status: "RUNNING" },
    after: [cancel({ status: "RUNNING" })],
  },
];

/** Jobs that a node is at when it is killed. */
export const runningJobs: readonly DeploymentJob[] = [
  {
    name: "in-flight",
    program: { steps: [send("slow", "sandbox:slow"), send("last")] },
    stands: { status: "RUNNING" },
    after: [answer(parked("in_doubt"), "proceed")],
  },
  {
    name: "pages",
    program: {
      steps: [
        deals("sandbox:pages=14", 2, 20),
        { id: "sum", reduce: "deals", as: { all: "count", worth: "sum value" } },
      ],
      result: { all: { $ref: "steps.sum.all" } },
    },
    stands: { status: "RUNNING" },
  },
  {
    name: "map",
    program: { steps: [deals("sandbox:pages=1", 65), sendEach("ops", { concurrency: 1 })] },
    stands: { status: "RUNNING" },
  },
  {
    name: "compensating",
    program: {
      ...saga,
      steps: [
        deals("ops", 12),
        { id: "each", map: "deals", concurrency: 1, do: [plan("add", { $text: "Deal {row.id}" })] },
        fails,
      ],
    },
    stands: { status: "COMPENSATING" },
  },
];

/** Jobs that were accepted while nothing was at work. */
export const acceptedJobs: readonly DeploymentJob[] = [
  { name: "queued", program: { steps: [deals("ops", 2), sendEach("ops")] }, stands: { status: "QUEUED" } },
  {
    name: "simulating",
    program: { steps: [send("first")] },
    options: { simulateFirst: true },
    stands: { status: "SIMULATING" },
  },
  {
    name: "planned-at-once",
    program: { steps: [remove] },
    stands: { status: "PENDING_PLAN_APPROVAL" },
    after: [answer({ status: "PENDING_PLAN_APPROVAL" }, "abort")],
  },
];
