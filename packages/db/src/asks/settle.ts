import { type EventId, type Id, isoTime, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { type AskDecisionDocument, askDecisionDocument } from "../documents/programs.ts";
import { chainOfJob } from "../jobs/principals.ts";
import { jobs } from "../schema/jobs.ts";
import type { Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/**
 * Stores the decision of an ask (a question to a person) if the ask is pending. If several transactions try this at the same time, only one
 * succeeds.
 */
const settlePending = statement<{ id: string }>(
  "settle_ask",
  `update job_asks set state = $2::text, decision = $3::jsonb, overrides = $4::bytea, deadline_at = null
   where id = $1::uuid and state = 'pending' returning id`,
);

/**
 * Settles a pending ask (a question of a job to a person): stores the decision about it, or withdraws it. Returns false and writes nothing
 * if the ask is not pending any more.
 */
export async function settleAsk(
  tx: Executor,
  id: Id<"ask">,
  end: /** `overrides`: the values that a person changed in the answer, encrypted. Given only if `decision` contains these values masked. */
    | { state: "answered" | "defaulted"; decision: AskDecisionDocument; overrides?: Uint8Array | undefined }
    | { state: "withdrawn"; decision?: undefined; overrides?: undefined },
): Promise<boolean> {
  const decision = end.decision === undefined ? null : askDecisionDocument.write(end.decision);
  return (await settlePending(tx, [uuidOfId(id), end.state, decision, end.overrides ?? null])).length > 0;
}

/** Adds the id of an event to a question. svc sent the question to the project's endpoints as this event. */
const addEvent = statement<{ id: string }>(
  "add_ask_event",
  "update job_asks set event_ids = event_ids || $2::text where id = $1::uuid",
);

/** Records that svc sent a question to the project's endpoints as the event `eventId`. */
export async function addAskEvent(tx: Executor, id: Id<"ask">, eventId: EventId): Promise<void> {
  await addEvent(tx, [uuidOfId(id), eventId]);
}

/** Counts a refused answer in the row of its ask (a question to a person). Finds the row by the primary key of job_asks. */
const countRefused = statement<{ refused: number }>(
  "count_refused_answer",
  "update job_asks set refused_answers = refused_answers + 1 where id = $1::uuid returning refused_answers as refused",
);

/** Adds one to the number of refused answers to an ask (a question to a person). Returns the new number. */
export async function countRefusedAnswer(tx: Executor, id: Id<"ask">): Promise<number> {
  const [row] = await countRefused(tx, [uuidOfId(id)]);
  return row?.refused ?? 0;
}

/** Counts a refused answer in the row of a job that asks no question. Finds the row by the primary key of jobs. */
const countStrayAnswers = statement<{ refused: number }>(
  "count_unasked_answer",
  "update jobs set refused_answers = refused_answers + 1 where id = $1::uuid returning refused_answers as refused",
);

/** Adds one to a job's number of refused answers, for an answer that arrived while the job had no question. Returns the new number. */
export async function countStrayAnswer(tx: Executor, jobId: Id<"job">): Promise<number> {
  const [row] = await countStrayAnswers(tx, [uuidOfId(jobId)]);
  return row?.refused ?? 0;
}

/** Marks a pending ask (a question to a person) as exhausted (no further contact will be asked). Finds the ask by its primary key. */
const exhaust = statement<{ id: string }>(
  "exhaust_ask",
  "update job_asks set exhausted = true, deadline_at = null where id = $1::uuid and state = 'pending' returning id",
);

/**
 * Marks a pending ask (a question of a job to a person) as exhausted: all stages of its escalation are over, and no contact is asked any
 * more. Returns false if the ask is not pending.
 */
export async function exhaustAsk(tx: Executor, id: Id<"ask">): Promise<boolean> {
  return (await exhaust(tx, [uuidOfId(id)])).length > 0;
}

/** Columns of a job whose row the transaction has locked. They say whose job it is, and which keys and programs caused it. */
export type LockedJobRow = Readonly<Row<typeof jobs, "id" | "projectId" | "keyId" | "principalChain">>;

const columns = selectList(jobs, ["id", "projectId", "keyId", "principalChain"]);

function withChain<Job extends Pick<Row<typeof jobs>, "keyId" | "principalChain">>(job: Job): Job {
  return { ...job, principalChain: chainOfJob(job) };
}

/** Locks the row of a job before its question is changed. Finds the row by the primary key of jobs. */
const lockForAnswer = statement<RawRow<LockedJobRow>>(
  "lock_job_for_ask",
  `select ${columns.text} from jobs where id = $1::uuid for no key update`,
);

/** Locks a job's row for the rest of the transaction, like `lockJob`, and returns its columns. Undefined if the job does not exist. */
export async function lockJobOfAsk(tx: Executor, jobId: Id<"job">): Promise<LockedJobRow | undefined> {
  const [row] = await lockForAnswer(tx, [uuidOfId(jobId)]);
  return row && withChain(columns.read(row));
}

/**
 * Stores the tool call that notified a contact (a person) of an ask (a question of a job). If several contacts were notified, the row keeps
 * only the call that notified the current recipient. Finds the ask by its primary key.
 */
const recordContact = statement<{ id: string }>(
  "note_ask_reached",
  `update job_asks set tool_slug = $3::text, entity_id = $4::text, tool_call_id = $5::text, delivered_at = $6::timestamptz
   where id = $1::uuid and (principal_id = $2::text or (tool_call_id = '' and $2::text = any(delivered_principals)
     and hop_index = $7::int4)) returning id`,
);

/** A contact (a person of the project) to whom svc sent a question, and the tool call that did so. */
type ContactedRecipient = {
  readonly principalId: string;
  readonly hopIndex: number;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly toolCallId: string;
  readonly deliveredAt: number;
};

/** Stores which tool call notified a contact (a person who answers questions) of a job's question, and when. */
export async function recordAskContact(tx: Executor, id: Id<"ask">, reached: ContactedRecipient): Promise<void> {
  const { principalId, toolSlug, entityId, toolCallId, deliveredAt, hopIndex } = reached;
  await recordContact(tx, [uuidOfId(id), principalId, toolSlug, entityId, toolCallId, isoTime(deliveredAt), hopIndex]);
}

/** Moves a pending ask (a question of a job) to the next contact (person) of its escalation. Finds the ask by its primary key. */
const passOn = statement<{ id: string }>(
  "pass_ask_on",
  `update job_asks set hop_index = $2::int4 + 1, principal_id = $3::text, deadline_at = $4::timestamptz,
     delivered_principals = case when $3::text = any(delivered_principals) then delivered_principals
       else delivered_principals || $3::text end,
     tool_slug = '', entity_id = '', tool_call_id = '', delivered_at = null
   where id = $1::uuid and state = 'pending' and hop_index = $2::int4 returning id`,
);

/**
 * Passes a pending ask (a question to a person) from the stage `fromHop` of its escalation to the next stage, with a new contact and
 * deadline. Returns false if the ask is no longer at that stage.
 */
export async function passAskOn(
  tx: Executor,
  id: Id<"ask">,
  { fromHop, principalId, deadlineAt }: { fromHop: number; principalId: string; deadlineAt: number | null },
): Promise<boolean> {
  const deadline = deadlineAt === null ? null : isoTime(deadlineAt);
  return (await passOn(tx, [uuidOfId(id), fromHop, principalId, deadline])).length > 0;
}
