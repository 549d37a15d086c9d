import { type EventId, type Id, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { and, asc, desc, eq, inArray, lt } from "drizzle-orm";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { jobAsks } from "../schema/jobs.ts";
import { statement } from "../statement.ts";

/** A question as its row holds it. */
export type AskRecord = typeof jobAsks.$inferSelect;

/** A question that is to be put. */
export type NewAsk = Omit<
  AskRecord,
  | "state"
  | "exhausted"
  | "toolSlug"
  | "entityId"
  | "toolCallId"
  | "deliveredAt"
  | "eventIds"
  | "refusedAnswers"
  | "decision"
>;

/** Writes a pending ask. A job has at most one: a second is a unique violation of `job_asks_pending`. */
export async function insertAsk(tx: Executor, ask: NewAsk): Promise<void> {
  await tx.orm.insert(jobAsks).values({ ...ask, state: "pending" });
}

/** One ask of a job. */
export async function findAsk(db: Executor, jobId: Id<"job">, id: Id<"ask">): Promise<AskRecord | undefined> {
  const [row] = await db.orm
    .select()
    .from(jobAsks)
    .where(and(eq(jobAsks.id, id), eq(jobAsks.jobId, jobId)));
  return row;
}

/** The question a job waits on. */
export async function findPendingAsk(db: Executor, jobId: Id<"job">): Promise<AskRecord | undefined> {
  const [row] = await db.orm
    .select()
    .from(jobAsks)
    .where(and(eq(jobAsks.jobId, jobId), eq(jobAsks.state, "pending")));
  return row;
}

/** Every ask of a job in the order they were raised. */
export function listJobAsks(db: Executor, jobId: Id<"job">): Promise<AskRecord[]> {
  return db.orm.select().from(jobAsks).where(eq(jobAsks.jobId, jobId)).orderBy(asc(jobAsks.id));
}

/** What a list of asks is narrowed to; an absent part does not narrow. */
export type AskFilter = {
  state: AskRecord["state"] | undefined;
  /** Who holds the question, or held it last. */
  principalId: string | undefined;
  jobId: Id<"job"> | undefined;
  standingProgramId: string | undefined;
};

/** The asks of one project. */
export type AskRepository = {
  find(jobId: Id<"job">, id: Id<"ask">): Promise<AskRecord | undefined>;
  /** Newest first, from after `after`. */
  list(filter: AskFilter, page: { after: Id<"ask"> | undefined; limit: number }): Promise<AskRecord[]>;
  /** The pending asks of several jobs. */
  listPending(jobIds: readonly Id<"job">[]): Promise<AskRecord[]>;
};

/** The asks of one project. Ids are in the order of time, which is the order of a list. */
export function asksForProject(db: Executor, projectId: ProjectId): AskRepository {
  const ofProject = eq(jobAsks.projectId, projectId);
  return {
    async find(jobId, id) {
      const [row] = await db.orm
        .select()
        .from(jobAsks)
        .where(and(ofProject, eq(jobAsks.jobId, jobId), eq(jobAsks.id, id)));
      return row;
    },
    list: ({ state, principalId, jobId, standingProgramId }, { after, limit }) =>
      db.orm
        .select()
        .from(jobAsks)
        .where(
          and(
            ofProject,
            state === undefined ? undefined : eq(jobAsks.state, state),
            principalId === undefined ? undefined : eq(jobAsks.principalId, principalId),
            jobId === undefined ? undefined : eq(jobAsks.jobId, jobId),
            standingProgramId === undefined ? undefined : eq(jobAsks.standingProgramId, standingProgramId),
            after === undefined ? undefined : lt(jobAsks.id, after),
          ),
        )
        .orderBy(desc(jobAsks.id))
        .limit(limit),
    listPending: async (jobIds) => {
      if (jobIds.length === 0) return [];
      return db.orm
        .select()
        .from(jobAsks)
        .where(and(ofProject, inArray(jobAsks.jobId, [...jobIds]), eq(jobAsks.state, "pending")));
    },
  };
}

/** What is known of a job under its lock. */
export type LockedJob = { readonly id: Id<"job">; readonly projectId: ProjectId; readonly principalChain: string[] };

const lockForAnswer = statement<{ project_id: string; chain: string }>(
  "lock_job_for_ask",
  "select project_id, to_json(principal_chain)::text as chain from jobs where id = $1::uuid for no key update",
);

/** Locks a job's row for the rest of the transaction, as `lockJob` does; undefined when there is none. */
export async function lockJobOfAsk(tx: Executor, jobId: Id<"job">): Promise<LockedJob | undefined> {
  const [row] = await lockForAnswer(tx, [uuidOfId(jobId)]);
  if (row === undefined) return undefined;
  const principalChain = JSON.parse(row.chain) as string[];
  return { id: jobId, projectId: idOfUuid("prj", row.project_id), principalChain };
}

/** Of any number of settlements one finds the ask pending: by primary key, whoever holds what lock. */
const settlePending = statement<{ id: string }>(
  "settle_ask",
  `update job_asks set state = $2::text, decision = $3::jsonb, deadline_at = null
   where id = $1::uuid and state = 'pending' returning id`,
);

/** Settles a pending ask, or withdraws it; false when somebody was earlier, and then nothing is written. */
export async function settleAsk(
  tx: Executor,
  id: Id<"ask">,
  end: { state: "answered" | "defaulted"; decision: object } | { state: "withdrawn"; decision?: undefined },
): Promise<boolean> {
  const decision = end.decision === undefined ? null : JSON.stringify(end.decision);
  return (await settlePending(tx, [uuidOfId(id), end.state, decision])).length > 0;
}

const passOn = statement<{ id: string }>(
  "pass_ask_on",
  `update job_asks set hop_index = $2::int4 + 1, principal_id = $3::text, deadline_at = $4::timestamptz,
     delivered_principals = case when $3::text = any(delivered_principals) then delivered_principals
       else delivered_principals || $3::text end,
     tool_slug = '', entity_id = '', tool_call_id = '', delivered_at = null
   where id = $1::uuid and state = 'pending' and hop_index = $2::int4 returning id`,
);

/** Passes a pending ask on from a hop to the next; false when it is not there any more. */
export async function passAskOn(
  tx: Executor,
  id: Id<"ask">,
  { fromHop, principalId, deadlineAt }: { fromHop: number; principalId: string; deadlineAt: number | null },
): Promise<boolean> {
  const deadline = deadlineAt === null ? null : new Date(deadlineAt).toISOString();
  return (await passOn(tx, [uuidOfId(id), fromHop, principalId, deadline])).length > 0;
}

const exhaust = statement<{ id: string }>(
  "exhaust_ask",
  "update job_asks set exhausted = true, deadline_at = null where id = $1::uuid and state = 'pending' returning id",
);

/** Marks a pending ask as one that goes nowhere any more. */
export async function exhaustAsk(tx: Executor, id: Id<"ask">): Promise<boolean> {
  return (await exhaust(tx, [uuidOfId(id)])).length > 0;
}

/** Of several that were reached for one question, the row tells of the one who holds it. */
const noteReached = statement<{ id: string }>(
  "note_ask_reached",
  `update job_asks set tool_slug = $3::text, entity_id = $4::text, tool_call_id = $5::text, delivered_at = $6::timestamptz
   where id = $1::uuid and (principal_id = $2::text or (tool_call_id = '' and $2::text = any(delivered_principals)
     and hop_index = $7::int4)) returning id`,
);

/** A call that told a contact of an ask. */
export type AskReached = {
  readonly principalId: string;
  readonly hopIndex: number;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly toolCallId: string;
  readonly deliveredAt: number;
};

/** Notes how a contact was told of an ask. */
export async function noteAskReached(tx: Executor, id: Id<"ask">, reached: AskReached): Promise<void> {
  const { principalId, toolSlug, entityId, toolCallId, deliveredAt, hopIndex } = reached;
  const at = new Date(deliveredAt).toISOString();
  await noteReached(tx, [uuidOfId(id), principalId, toolSlug, entityId, toolCallId, at, hopIndex]);
}

const addEvent = statement<{ id: string }>(
  "add_ask_event",
  "update job_asks set event_ids = event_ids || $2::text where id = $1::uuid",
);

/** Notes the event that an ask was published as. */
export async function addAskEvent(tx: Executor, id: Id<"ask">, eventId: EventId): Promise<void> {
  await addEvent(tx, [uuidOfId(id), eventId]);
}

const countRefused = statement<{ refused: number }>(
  "count_refused_answer",
  "update job_asks set refused_answers = refused_answers + 1 where id = $1::uuid returning refused_answers as refused",
);

/** Counts a refused answer to an ask; returns how many there are now. */
export async function countRefusedAnswer(tx: Executor, id: Id<"ask">): Promise<number> {
  const [row] = await countRefused(tx, [uuidOfId(id)]);
  return row?.refused ?? 0;
}

const countEvents = statement<{ count: number }>(
  "count_refusal_events",
  `select count(*)::int4 as count from (
     select from job_events where job_id = $1::uuid and type = 'answer-refused' limit $2::int4) e`,
);

/** How many refusals stand on a job's log, up to `max`: for answers to a job that never asked anything. */
export async function countRefusalEvents(db: Executor, jobId: Id<"job">, max: number): Promise<number> {
  const [row] = await countEvents(db, [uuidOfId(jobId), max]);
  return row?.count ?? 0;
}

/** How the deliveries of one event stand. */
export type EventDeliveries = {
  readonly eventId: EventId;
  readonly isDead: boolean;
  readonly isPending: boolean;
  /** The earliest time at which a pending one is tried; null when none is pending. */
  readonly nextAttemptAt: number | null;
};

const readDeliveries = statement<{ event_id: string; dead: boolean; pending: boolean; next_ms: number | null }>(
  "read_event_deliveries",
  `select event_id, bool_or(state = 'dead_letter') as dead, bool_or(state = 'pending') as pending,
     (extract(epoch from min(next_attempt_at) filter (where state = 'pending')) * 1000)::float8 as next_ms
   from deliveries where project_id = $1::uuid and event_id = any($2::uuid[]) group by event_id`,
);

/** The deliveries of events, one entry for each event that has any. Served by deliveries_event. */
export async function readEventDeliveries(
  db: Executor,
  projectId: ProjectId,
  eventIds: readonly EventId[],
): Promise<EventDeliveries[]> {
  if (eventIds.length === 0) return [];
  const rows = await readDeliveries(db, [uuidOfId(projectId), arrayLiteral(eventIds.map(uuidOfId))]);
  return rows.map(({ event_id: id, dead, pending, next_ms: nextMs }) => {
    return { eventId: idOfUuid("evt", id), isDead: dead, isPending: pending, nextAttemptAt: nextMs };
  });
}

/** `case` and not `and`: no other entry's payload is read as JSON. Served by job_events_key, from the log's end. */
const readLogged = statement<{ id: string; state: string }>(
  "read_logged_ask_deliveries",
  `select a.id, e.state from unnest($1::uuid[], $2::text[]) as a(job_id, id)
   cross join lateral (
     select payload::jsonb ->> 'to' as state from job_events
     where job_id = a.job_id and case when type = 'ask-delivery-changed'
       then payload::jsonb ->> 'via' = 'endpoints' and payload::jsonb ->> 'requestId' = a.id else false end
     order by seq desc limit 1) e`,
);

/** The fate of asks' publications as their jobs' logs last told it; one that no entry tells of is absent. */
export async function readLoggedAskDeliveries(
  db: Executor,
  asks: readonly Pick<AskRecord, "id" | "jobId">[],
): Promise<Map<Id<"ask">, string>> {
  if (asks.length === 0) return new Map();
  const rows = await readLogged(db, [
    arrayLiteral(asks.map(({ jobId }) => uuidOfId(jobId))),
    arrayLiteral(asks.map(({ id }) => id)),
  ]);
  const known = new Map(rows.map(({ id, state }) => [id, state]));
  return new Map(asks.flatMap(({ id }) => (known.has(id) ? [[id, known.get(id) ?? ""] as const] : [])));
}

const readTwins = statement<{ id: string; receipt: string }>(
  "read_twin_receipts",
  `select simulated_from as id, receipt::text as receipt from jobs
   where project_id = $1::uuid and simulated_from = any($2::uuid[]) and receipt is not null`,
);

/** The receipts of the simulations that were made for jobs, by the job they were made for. */
export async function readTwinReceipts(
  db: Executor,
  projectId: ProjectId,
  jobIds: readonly Id<"job">[],
): Promise<Map<Id<"job">, Readonly<Record<string, unknown>>>> {
  if (jobIds.length === 0) return new Map();
  const rows = await readTwins(db, [uuidOfId(projectId), arrayLiteral(jobIds.map(uuidOfId))]);
  return new Map(
    rows.map(({ id, receipt }) => [idOfUuid("job", id), JSON.parse(receipt) as Readonly<Record<string, unknown>>]),
  );
}
