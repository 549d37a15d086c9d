import { addAskEvent } from "../asks/add-event.ts";
import { countRefusedAnswer, countUnaskedAnswer } from "../asks/count-refused-answer.ts";
import { exhaustAsk } from "../asks/exhaust.ts";
import { isOneHand } from "../asks/is-one-hand.ts";
import { lockJobOfAsk } from "../asks/lock-job.ts";
import { noteAskReached } from "../asks/note-reached.ts";
import { passAskOn } from "../asks/pass-on.ts";
import { readDuePublications } from "../asks/read-due-publications.ts";
import { readLoggedAskDeliveries } from "../asks/read-logged-deliveries.ts";
import { asksForProject, findAsk, findPendingAsk, insertAsk, listJobAsks, type NewAsk } from "../asks/repo.ts";
import { settleAsk } from "../asks/settle.ts";
import { wasJobConfirmed } from "../asks/was-confirmed.ts";
import { contactsForProject } from "../contacts/repo.ts";
import { askEndpointsForProject } from "../subscriptions/ask-endpoints.ts";
import { findNoticeEndpoints } from "../subscriptions/notice-endpoints.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
const jobId = seededId("job", 1);
const id = seededId("ask", 1);
const page = { after: undefined, limit: 51 };
const everyAsk = { state: undefined, principalId: undefined, jobId: undefined, standingProgramId: undefined };
const byKey = { job_asks: "job_asks_pkey(id)" };

const ask: NewAsk = {
  ...{ id: seededId("ask", 500_000), projectId, jobId: seededId("job", 3), stepId: "", pointId: "", question: "" },
  ...{ answerSchema: "", escalation: [], counts: null, hopIndex: 0, principalId: "p1", deliveredPrincipals: [] },
  ...{ deadlineAt: null, approvalId: "", keyId: seededId("key", 1), standingProgramId: "", askedAt: nowMs },
  kind: "judge",
  continuations: ["proceed"],
  defaultContinuation: "",
};

/** Questions, and those who are asked. */
export const askPlans: readonly Plan[] = [
  { name: "lock_job_for_ask", run: (db) => lockJobOfAsk(db, jobId), reads: { jobs: "jobs_pkey(id)" } },
  { name: "settle_ask", run: (db) => settleAsk(db, id, { state: "withdrawn" }), reads: byKey },
  {
    name: "pass_ask_on",
    run: (db) => passAskOn(db, id, { fromHop: 0, principalId: "p", deadlineAt: null }),
    reads: byKey,
  },
  { name: "exhaust_ask", run: (db) => exhaustAsk(db, id), reads: byKey },
  {
    name: "note_ask_reached",
    run: (db) => {
      const call = { toolSlug: "", entityId: "", toolCallId: "", deliveredAt: nowMs };
      return noteAskReached(db, id, { ...call, principalId: "p1", hopIndex: 0 });
    },
    reads: byKey,
  },
  {
    name: "was_job_confirmed",
    run: (db) => wasJobConfirmed(db, jobId),
    reads: { jobs: "jobs_pkey(id)", job_asks: "job_asks_job(job_id)" },
  },
  {
    name: "is_one_hand",
    run: (db) => isOneHand(db, { jobId, keyIds: [seededId("key", 1)] }, seededId("key", 2)),
    reads: {
      ...{ jobs: "jobs_pkey(id)", job_attempts: "job_attempts_key(job_id)" },
      ...{ grants: "grants_key(key_id)", api_keys: "api_keys_pkey(id)" },
    },
  },
  { name: "add_ask_event", run: (db) => addAskEvent(db, id, seededId("evt", 1)), reads: byKey },
  { name: "count_refused_answer", run: (db) => countRefusedAnswer(db, id), reads: byKey },
  {
    name: "count_unasked_answer",
    run: (db) => countUnaskedAnswer(db, seededId("job", 2)),
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "read_logged_ask_deliveries",
    run: (db) => readLoggedAskDeliveries(db, [{ id, jobId: seededId("job", 2) }]),
    reads: { job_events: "job_events_key(job_id)" },
    isOrdered: true,
  },
  {
    name: "read_due_publications",
    run: (db) => readDuePublications(db, [{ jobId: seededId("job", 2), subject: `${id}/0` }]),
    reads: { job_tasks: "job_tasks_key(job_id, kind, subject)" },
  },
  { name: "put a question", run: (db) => insertAsk(db, ask), reads: {} },
  {
    name: "an ask of a project",
    run: (db) => asksForProject(db, projectId).find(id),
    reads: { job_asks: ["job_asks_pkey(id)", "job_asks_project(project_id, id)"] },
  },
  {
    name: "an ask of a project's job",
    run: (db) => asksForProject(db, projectId).find(id, jobId),
    reads: { job_asks: ["job_asks_pkey(id)", "job_asks_project(project_id, id)", "job_asks_job(job_id, id)"] },
  },
  {
    name: "an ask of a job",
    run: (db) => findAsk(db, jobId, id),
    reads: { job_asks: ["job_asks_pkey(id)", "job_asks_job(job_id, id)"] },
  },
  {
    name: "the pending ask of a job",
    run: (db) => findPendingAsk(db, jobId),
    reads: { job_asks: ["job_asks_pending(job_id)", "job_asks_job(job_id)"] },
  },
  {
    name: "the asks of a job",
    run: (db) => listJobAsks(db, jobId),
    reads: { job_asks: "job_asks_job(job_id)" },
    isOrdered: true,
  },
  {
    name: "the pending asks of a page of jobs",
    run: (db) => asksForProject(db, projectId).listPending([jobId, seededId("job", 21)]),
    reads: { job_asks: ["job_asks_pending(job_id)", "job_asks_job(job_id)"] },
  },
  {
    name: "a page of a standing program's asks",
    run: (db) => asksForProject(db, projectId).list({ ...everyAsk, standingProgramId: seededId("stp", 1) }, page),
    reads: { job_asks: "job_asks_standing(project_id, standing_program_id)" },
    isOrdered: true,
  },
  {
    name: "a page of a job's asks",
    run: (db) => asksForProject(db, projectId).list({ ...everyAsk, jobId }, page),
    reads: { job_asks: "job_asks_job(job_id)" },
  },
  {
    name: "the next page of a job's pending asks of a principal",
    run: (db) =>
      asksForProject(db, projectId).list(
        { state: "pending", principalId: "p1", jobId, standingProgramId: seededId("stp", 1) },
        { after: seededId("ask", 5_001), limit: 51 },
      ),
    reads: { job_asks: "job_asks_job(job_id, id)" },
    isOrdered: true,
  },
  {
    name: "the next page of a standing program's pending asks of a principal",
    run: (db) =>
      asksForProject(db, projectId).list(
        { ...everyAsk, state: "pending", principalId: "p1", standingProgramId: seededId("stp", 1) },
        { after: seededId("ask", 5_001), limit: 51 },
      ),
    reads: { job_asks: "job_asks_standing(project_id, standing_program_id, id)" },
    isOrdered: true,
  },
  {
    name: "a page of asks",
    statistics: ["fresh"],
    run: (db) => asksForProject(db, projectId).list(everyAsk, page),
    reads: { job_asks: "job_asks_project(project_id, id)" },
    isOrdered: true,
  },
  {
    name: "a page of pending asks",
    statistics: ["fresh"],
    run: (db) => asksForProject(db, projectId).list({ ...everyAsk, state: "pending" }, page),
    reads: { job_asks: "job_asks_state((state || ' '::text), project_id, id)" },
    isOrdered: true,
  },
  {
    name: "a page of a principal's asks",
    statistics: ["fresh"],
    run: (db) => asksForProject(db, projectId).list({ ...everyAsk, principalId: "p1" }, page),
    reads: { job_asks: "job_asks_principal((principal_id || ' '::text), project_id, id)" },
    isOrdered: true,
  },
  {
    name: "a page of a principal's asks in a state",
    statistics: ["fresh"],
    run: (db) => asksForProject(db, projectId).list({ ...everyAsk, principalId: "p1", state: "answered" }, page),
    reads: { job_asks: "job_asks_principal_state(((state || ' '::text) || principal_id), project_id, id)" },
    isOrdered: true,
  },
  {
    name: "a contact",
    run: (db) => contactsForProject(db, projectId).find("p1"),
    reads: { contacts: "contacts_key(project_id, principal_id)" },
  },
  {
    name: "some contacts",
    run: (db) => contactsForProject(db, projectId).findMany(["p1", "p5"]),
    reads: { contacts: "contacts_key(project_id, principal_id)" },
  },
  {
    name: "the approvers of a project",
    run: (db) => contactsForProject(db, seededId("prj", 9)).listApprovers(),
    reads: { contacts: "contacts_key(project_id)" },
  },
  {
    name: "the endpoints of a project's asks",
    run: (db) => askEndpointsForProject(db, seededId("prj", 9)).listActive("ask_raised"),
    reads: { subscriptions: ["subscriptions_asks(project_id)", "subscriptions_project(project_id)"] },
  },
  {
    name: "find_notice_endpoints",
    run: (db) => findNoticeEndpoints(db, [seededId("prj", 9), seededId("prj", 7)]),
    reads: { subscriptions: "subscriptions_project(project_id)" },
  },
];
