import { isOneHand, readDuePublications, readLoggedAskDeliveries, wasJobConfirmed } from "../src/asks/read.ts";
import { asksForProject, findAsk, findPendingAsk, insertAsk, listJobAsks, type NewAsk } from "../src/asks/repo.ts";
import {
  addAskEvent,
  countRefusedAnswer,
  countStrayAnswer,
  exhaustAsk,
  lockJobOfAsk,
  passAskOn,
  recordAskContact,
  settleAsk,
} from "../src/asks/settle.ts";
import { contactsForProject } from "../src/contacts/repo.ts";
import { askEndpointsForProject } from "../src/subscriptions/ask-endpoints.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const jobId = seededId("job", 1);
const id = seededId("ask", 1);
const page = { after: undefined, limit: 51 };
const everyAsk = { state: undefined, principalId: undefined, jobId: undefined, standingProgramId: undefined };

const ask: NewAsk = {
  ...{ id: seededId("ask", 500_000), projectId, jobId: seededId("job", 3), stepId: "", pointId: "", question: "" },
  ...{ answerSchema: "", escalation: [], counts: null, hopIndex: 0, principalId: "p1", deliveredPrincipals: [] },
  ...{ deadlineAt: null, approvalId: "", keyId: seededId("key", 1), standingProgramId: "", askedAt: nowMs },
  kind: "judge",
  continuations: ["proceed"],
  defaultContinuation: "",
};

// Recorded query plans of statements on asks (questions to people) and their recipients.
plan("lock_job_for_ask", (db) => lockJobOfAsk(db, jobId));
plan("settle_ask", (db) => settleAsk(db, id, { state: "withdrawn" }));
plan("pass_ask_on", (db) => passAskOn(db, id, { fromHop: 0, principalId: "p", deadlineAt: null }));
plan("exhaust_ask", (db) => exhaustAsk(db, id));
plan("note_ask_reached", (db) => {
  const call = { toolSlug: "", entityId: "", toolCallId: "", deliveredAt: nowMs };
  return recordAskContact(db, id, { ...call, principalId: "p1", hopIndex: 0 });
});
plan("was_job_confirmed", (db) => wasJobConfirmed(db, jobId));
plan("is_one_hand", (db) => isOneHand(db, { jobId, keyIds: [seededId("key", 1)] }, seededId("key", 2)));
plan("add_ask_event", (db) => addAskEvent(db, id, seededId("evt", 1)));
plan("count_refused_answer", (db) => countRefusedAnswer(db, id));
plan("count_unasked_answer", (db) => countStrayAnswer(db, seededId("job", 2)));
plan("read_logged_ask_deliveries", (db) => readLoggedAskDeliveries(db, [{ id, jobId: seededId("job", 2) }]));
plan("read_due_publications", (db) => readDuePublications(db, [{ jobId: seededId("job", 2), subject: `${id}/0` }]));
plan("put a question", (db) => insertAsk(db, ask));
plan("an ask of a project", (db) => asksForProject(db, projectId).find(id));
plan("an ask of a project's job", (db) => asksForProject(db, projectId).find(id, jobId));
plan("an ask of a job", (db) => findAsk(db, jobId, id));
plan("the pending ask of a job", (db) => findPendingAsk(db, jobId));
plan("the asks of a job", (db) => listJobAsks(db, jobId));
plan("the pending asks of a page of jobs", (db) =>
  asksForProject(db, projectId).listPending([jobId, seededId("job", 21)]),
);
plan("a page of a standing program's asks", (db) =>
  asksForProject(db, projectId).list({ ...everyAsk, standingProgramId: seededId("stp", 1) }, page),
);
plan("a page of a job's asks", (db) => asksForProject(db, projectId).list({ ...everyAsk, jobId }, page));
plan("the next page of a job's pending asks of a principal", (db) =>
  asksForProject(db, projectId).list(
    { state: "pending", principalId: "p1", jobId, standingProgramId: seededId("stp", 1) },
    { after: seededId("ask", 5_001), limit: 51 },
  ),
);
plan("the next page of a standing program's pending asks of a principal", (db) =>
  asksForProject(db, projectId).list(
    { ...everyAsk, state: "pending", principalId: "p1", standingProgramId: seededId("stp", 1) },
    { after: seededId("ask", 5_001), limit: 51 },
  ),
);
plan("a page of asks", (db) => asksForProject(db, projectId).list(everyAsk, page), { statistics: ["fresh"] });
plan("a page of pending asks", (db) => asksForProject(db, projectId).list({ ...everyAsk, state: "pending" }, page), {
  statistics: ["fresh"],
});
plan(
  "a page of a principal's asks",
  (db) => asksForProject(db, projectId).list({ ...everyAsk, principalId: "p1" }, page),
  { statistics: ["fresh"] },
);
plan(
  "a page of a principal's asks in a state",
  (db) => asksForProject(db, projectId).list({ ...everyAsk, principalId: "p1", state: "answered" }, page),
  { statistics: ["fresh"] },
);
plan("some contacts", (db) => contactsForProject(db, projectId).findMany(["p1", "p5"]));
plan("the approvers of a project", (db) => contactsForProject(db, seededId("prj", 9)).listApprovers());
plan("the endpoints of a project's asks", (db) =>
  askEndpointsForProject(db, seededId("prj", 9)).listActive("ask_raised"),
);
