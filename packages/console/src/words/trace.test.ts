import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Remedy } from "@svc/gen/failures";
import { Relation, TraceGapReason, TraceKind, TraceResponseSchema, Tone as TraceTone } from "@svc/gen/stats";
import { expect, test } from "vitest";
import { missingWords, stripChips, whyOf } from "./trace.ts";

const { EVENT, POST, RUN, SCHEDULE, JOB, CALL, ASK, DELIVERY, SUBSCRIPTION, ACCOUNT } = TraceKind;
const { OK, BAD, WARN, IDLE } = TraceTone;
const node = (id: string, kind: TraceKind, title: string, tone: TraceTone, more: object = {}) => ({
  ...{ id, kind, title, tone, summary: "It is so.", count: 1, ...more },
});

/** A post that became an event, which started a run of a schedule; its job failed, after seven calls and a question. */
const ofJob = {
  focus: "job_1",
  nodes: [
    node("job_1", JOB, "Job Copy the deals", BAD),
    node("srn_1", RUN, "Run by an event", BAD),
    node("stp_1", SCHEDULE, "Schedule copy", OK),
    node("evt_1", EVENT, "Event calendar.changed", IDLE),
    node("post", POST, "Webhook post of calendar", IDLE),
    node("call_1", CALL, "Call of crm.list", OK),
    node("call_2", CALL, "Call of crm.get", BAD),
    node("more", CALL, "5 or more of the same kind", IDLE, { count: 5, isFolded: true }),
    node("ask_1", ASK, "Question to lead", IDLE),
  ],
  edges: [
    { from: "stp_1", to: "srn_1", relation: Relation.STARTED },
    { from: "evt_1", to: "srn_1", relation: Relation.STARTED },
    { from: "post", to: "evt_1", relation: Relation.BECAME },
    { from: "srn_1", to: "job_1", relation: Relation.RAN },
    ...["call_1", "call_2", "more"].map((to) => ({ from: "job_1", to, relation: Relation.CALLED })),
    { from: "job_1", to: "ask_1", relation: Relation.ASKED },
  ],
  why: [
    { nodeId: "job_1", sentence: "Job Copy the deals: It failed.", remedy: Remedy.RETRY_JOB },
    { nodeId: "call_2", sentence: "Call of crm.get: The app answered with an error.", remedy: Remedy.CHECK_APP },
  ],
} satisfies MessageInitShape<typeof TraceResponseSchema>;
const read = (trace: MessageInitShape<typeof TraceResponseSchema>) => create(TraceResponseSchema, trace);
const chipsOf = (trace: MessageInitShape<typeof TraceResponseSchema>) =>
  stripChips(read(trace)).map(({ label, detail, tone }) => [label, detail, tone].join("|"));

test("a strip is the path from the first cause to the effects, which are counted by kind", () => {
  expect(chipsOf(ofJob)).toEqual([
    "Post|of calendar|plain",
    "Event|calendar.changed|plain",
    "Run|by an event|bad",
    "This job||bad",
    "Question|to lead|plain",
    "7+ calls|1 failed|bad",
  ]);
  expect(stripChips(read(ofJob))[5]).toMatchObject({ callsOf: "job_1" });
  expect(chipsOf({ ...ofJob, focus: "evt_1" }).slice(1)).toEqual([
    "This event||plain",
    "Run|by an event|bad",
    "Job|Copy the deals|bad",
    "Question|to lead|plain",
    "7+ calls|1 failed|bad",
  ]);
});

test("the endpoint of a delivery comes after it, and is not its cause", () => {
  const trace = {
    focus: "dlv_1",
    nodes: [
      node("dlv_1", DELIVERY, "Delivery to a.example", WARN),
      node("sub_1", SUBSCRIPTION, "Endpoint a.example", BAD),
      node("evt_1", EVENT, "Test event", IDLE),
    ],
    edges: [
      { from: "sub_1", to: "dlv_1", relation: Relation.RECEIVED },
      { from: "evt_1", to: "dlv_1", relation: Relation.DELIVERED_AS },
    ],
    why: [
      { nodeId: "dlv_1", sentence: "Delivery to a.example: 500.", remedy: Remedy.REPAIR_ENDPOINT },
      { nodeId: "sub_1", sentence: "Endpoint a.example: It is off.", remedy: Remedy.RESUME },
    ],
  };
  expect(chipsOf(trace)).toEqual(["Test event||plain", "This delivery||warn", "Endpoint|a.example|bad"]);
  expect(whyOf(read(trace))?.remedy).toEqual({ words: "Open to resume", id: "sub_1" });
  const alone = { ...trace, why: trace.why.slice(0, 1) };
  expect(whyOf(read(alone))).toMatchObject({ because: "", remedy: { words: "Open the endpoint", id: "sub_1" } });
});

test("the failure of a focus has the remedy of its first cause, and none for a button that the page has", () => {
  expect(whyOf(read(ofJob))).toEqual({
    title: "It is so.",
    because: "Call of crm.get: The app answered with an error.",
    remedy: { words: "Open the call", id: "call_2" },
  });
  expect(whyOf(read({ ...ofJob, why: ofJob.why.slice(0, 1) }))?.remedy).toBeUndefined();
  expect(whyOf(read({ ...ofJob, focus: "ask_1" }))).toBeUndefined();
  const nodes = [node("call_2", CALL, "Call of crm.get", BAD), node("acc_1", ACCOUNT, "Account of ada in crm", BAD)];
  const edges = [{ from: "acc_1", to: "call_2", relation: Relation.USED_FOR }];
  const why = [{ nodeId: "call_2", sentence: "s", remedy: Remedy.RECONNECT_ACCOUNT }];
  const remedyOf = (trace: object) => whyOf(read({ focus: "call_2", nodes, why, ...trace }))?.remedy;
  expect(remedyOf({ edges })).toEqual({ words: "Reconnect the account", id: "acc_1" });
  expect(remedyOf({ edges: [] })).toEqual({ words: "Reconnect the account", list: "accounts" });
});

test("a strip says what is missing and why, each once", () => {
  const gap = { nodeId: "a", kind: DELIVERY, reason: TraceGapReason.NOT_PERMITTED };
  expect(missingWords(read({ gaps: [gap, { ...gap, nodeId: "b" }] }))).toBe("Deliveries: not permitted for your key");
  expect(missingWords(read({}))).toBe("");
});
