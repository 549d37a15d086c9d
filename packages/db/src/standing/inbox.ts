import { type EventId, idOfUuid, isoTime, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { standingArrivals } from "../schema/standing.ts";
import { events } from "../schema/triggers.ts";
import { fieldsOf, int8, type Row, timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList, values } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import type { DueClaimRequest } from "./claim.ts";

/**
 * An event in the inbox of schedules that this node has claimed. The node decides which schedules the event starts. `attempt`: number of
 * claims up to now, including this claim.
 */
export type ClaimedInboxEvent = Readonly<
  Row<
    typeof standingArrivals,
    "dueAt" | "projectId" | "eventId" | "triggerSlug" | "routingVersion" | "leaseToken" | "attempt"
  >
>;

/**
 * Identifies an event in the inbox (stored events that may start schedules), and the lease (time in which only one node may work on it).
 */
export type InboxLease = Pick<ClaimedInboxEvent, "dueAt" | "projectId" | "eventId" | "leaseToken">;

/** Options of `claimInbox`. */
export type InboxClaimRequest = DueClaimRequest & {
  /**
   * Last project that the previous claim visited. The new claim visits projects in the order of their ids, and begins after this project.
   * The caller passes `next` of the previous result. In this way every project gets its turn.
   */
  readonly after: ProjectId | undefined;
};

/** Result of `claimInbox`: the events of the inbox that this node has claimed, and the position of the next claim. */
export type InboxClaim = {
  /** The claimed events, oldest first. */
  readonly events: readonly ClaimedInboxEvent[];
  /**
   * Project after which the next claim of inbox events begins, so that each project gets its turn. Undefined if this claim has already
   * visited the last project.
   */
  readonly next: ProjectId | undefined;
};

/**
 * Number of inbox events that a claim (taking events for a node) scans, as a multiple of the claim's limit. It is above 1, so that every
 * project gets its share and events that other nodes claim at the same moment can be skipped. A larger number costs time, because each
 * scanned event is looked up a second time. With ten times the limit, these lookups took half the time of a claim.
 */
const windowFactor = 3;

const columns = ["dueAt", "projectId", "eventId", "triggerSlug", "routingVersion", "leaseToken", "attempt"] as const;
const claimed = selectList(standingArrivals, columns, "c");

type ClaimRow = RawRow<ClaimedInboxEvent> & {
  readonly projects: number;
  readonly last: string | null;
};

/** Claims the oldest due events for this node, for a limited time. Every project gets its first event before any project gets a second. */
const claimDue = statement<ClaimRow>(
  // The primary key gives the projects one by one, and the events of each project up to its share. So a project with 10,000 events does
  // not slow down the others. The key contains no lease column, so PostgreSQL changes no index (HOT update).
  // The result always has a row with the last visited project.
  "claim_standing_arrivals",
  `with recursive projects as (
    (select project_id, 1 as place from standing_arrivals where project_id > $6::uuid
      order by project_id, due_at, event_id limit 1)
    union all
    select n.project_id, l.place + 1 from projects l cross join lateral (
      select project_id from standing_arrivals where project_id > l.project_id
      order by project_id, due_at, event_id limit 1 offset 0) n
    where l.place < $3::int4
  ), visited as materialized (
    select count(*)::int4 as projects, (array_agg(project_id order by place desc))[1] as last from projects
  ), due as materialized (
    select d.*, row_number() over (partition by d.project_id order by d.due_at, d.event_id) as place
    from projects l cross join visited v cross join lateral (
      select due_at, project_id, event_id from standing_arrivals
      where project_id = l.project_id and due_at <= $1::timestamptz and (lease_until is null or lease_until <= $1::timestamptz)
      order by project_id, due_at, event_id limit greatest(1, $2::int4 / v.projects) offset 0) d
  ), picked as materialized (
    select t.due_at, t.project_id, t.event_id from due d
    join standing_arrivals t on t.due_at = d.due_at and t.project_id = d.project_id and t.event_id = d.event_id
    where t.lease_until is null or t.lease_until <= $1::timestamptz
    order by d.place, d.due_at, d.event_id limit $3::int4
    for update of t skip locked
  ), claimed as (
    update standing_arrivals t set lease_owner = $4::uuid, lease_token = t.lease_token + 1, lease_until = $5::timestamptz,
      attempt = t.attempt + 1
    from picked p where t.due_at = p.due_at and t.project_id = p.project_id and t.event_id = p.event_id
    returning t.*
  )
  select v.projects, v.last::text as last, ${claimed.text} from visited v left join claimed c on true`,
);

const zeroUuid = "00000000-0000-0000-0000-000000000000";

/**
 * Claims events from the inbox (stored events that may start schedules) for the node `owner`, and returns them. If more projects have
 * events than the limit allows, the next claim continues with the remaining projects.
 */
export async function claimInbox(db: Executor, request: InboxClaimRequest): Promise<InboxClaim> {
  const { owner, nowMs, leaseUntilMs, limit, after } = request;
  const now = isoTime(nowMs);
  const lease = [uuidOfId(owner), isoTime(leaseUntilMs)];
  const from = after === undefined ? zeroUuid : uuidOfId(after);
  const found = await claimDue(db, [now, limit * windowFactor, limit, ...lease, from]);
  const arrivals = found.filter(({ eventId }) => eventId !== null).map((row) => claimed.read(row));
  const [{ projects, last } = { projects: 0, last: null }] = found;
  const isWhole = projects < limit || last === null;
  // This claim began after the project `after` and found no events. Events of earlier projects must not wait for the next claim, so the
  // function searches again from the first project.
  if (isWhole && arrivals.length === 0 && after !== undefined) return claimInbox(db, { ...request, after: undefined });
  return { events: inOrder(arrivals), next: isWhole ? undefined : idOfUuid("prj", last) };
}

function inOrder<Arrival extends Pick<ClaimedInboxEvent, "dueAt" | "eventId">>(
  arrivals: readonly Arrival[],
): Arrival[] {
  return arrivals.toSorted((a, b) => a.dueAt - b.dueAt || (a.eventId < b.eventId ? -1 : 1));
}

const leaseRows = rows(fieldsOf(standingArrivals, "dueAt", "projectId", "eventId", "leaseToken"));

const isHeld =
  "t.due_at = i.due_at and t.project_id = i.project_id and t.event_id = i.event_id and t.lease_token = i.lease_token and t.lease_owner is not null";

const leaseColumns = selectList(standingArrivals, ["dueAt", "projectId", "eventId", "leaseToken"], "t");

/**
 * Locks events in the inbox (events that wait for the schedules subscribed to them), in the order of the primary key. Two transactions then
 * lock the same events in the same order and cannot deadlock.
 */
const lockLeases = compose(
  "hold_standing_arrivals",
  { leases: leaseRows },
  ({ leases }) => query<RawRow<InboxLease>>`
    select ${leaseColumns.text} from ${leases.from("i")} join standing_arrivals t on ${isHeld}
    order by t.due_at, t.project_id, t.event_id for update of t`,
);

/**
 * Locks events of the inbox (events that may start schedules) until the end of the transaction. The caller must lock the schedules before
 * the events. Returns the leases (time-limited rights) under which this node still holds the events.
 */
export async function lockInboxLeases(tx: Executor, leases: readonly InboxLease[]): Promise<InboxLease[]> {
  if (leases.length === 0) return [];
  return (await lockLeases(tx, { leases })).map((row) => leaseColumns.read(row));
}

/** Deletes inbox events about which svc has decided. Finds them by the primary key of `standing_arrivals`. */
const deleteDecided = compose(
  "delete_standing_arrivals",
  { leases: leaseRows },
  ({ leases }) => query`delete from standing_arrivals t using ${leases.from("i")} where ${isHeld}`,
);

/**
 * Deletes events from the inbox of schedules, after svc has decided which schedules they start. Deletes only events that the caller holds
 * under these leases (its time-limited rights to the events).
 */
export async function deleteFromInbox(tx: Executor, leases: readonly InboxLease[]): Promise<void> {
  if (leases.length > 0) await deleteDecided(tx, { leases });
}

/**
 * Ends the leases (time-limited rights of one node to work on a task) of inbox events, so that any node may take them. Finds the rows by
 * their primary key. Locks them in the order of this key, so that two such statements do not deadlock.
 */
const releaseLeases = compose(
  "release_standing_arrivals",
  { leases: leaseRows, arrival: values({ dueAtMs: timestamptz }) },
  ({ leases, arrival }) => query`
    with held as materialized (
      select t.due_at, t.project_id, t.event_id from ${leases.from("i")} join standing_arrivals t on ${isHeld}
      order by t.due_at, t.project_id, t.event_id for update of t
    )
    update standing_arrivals t set lease_owner = null, lease_until = ${arrival.dueAtMs}
    from held h where t.due_at = h.due_at and t.project_id = h.project_id and t.event_id = h.event_id`,
);

/**
 * Releases leases (time-limited rights of this node to inbox events) without a decision, so that the events are due again at `dueAtMs`.
 * Ignores leases that the node has lost.
 */
export async function releaseInboxLeases(db: Executor, leases: readonly InboxLease[], dueAtMs: number): Promise<void> {
  if (leases.length > 0) await releaseLeases(db, { leases, arrival: { dueAtMs } });
}

/** An event with those fields that a schedule's decision and program can read. */
export type InboxEvent = Readonly<
  Row<typeof events, "id" | "projectId" | "triggerSlug" | "entityId" | "payload" | "occurredAt" | "receivedAt">
>;

const eventColumns = selectList(
  events,
  ["id", "projectId", "triggerSlug", "entityId", "payload", "occurredAt", "receivedAt"],
  "e",
);

/**
 * Reads inbox events with their payloads, in order, until their total size reaches a limit; the event that reaches it is included. Finds
 * each event by its primary key. PostgreSQL knows the length of a payload without reading it.
 */
const readEvents = compose(
  "read_arrived_events",
  { wanted: rows(fieldsOf(events, "projectId", "id")), bound: values({ bytesMax: int8 }) },
  ({ wanted, bound }) => query<RawRow<InboxEvent>>`select ${eventColumns.text} from (
      select e.*, sum(octet_length(e.payload)) over (order by e.place) - octet_length(e.payload) as before
      from (select e.*, w.place from ${wanted.fromOrdered("w", "place")} cross join lateral (
        select * from events where project_id = w.project_id and id = w.id and kind <> 'swept' offset 0) e) e) e
    where e.before < ${bound.bytesMax} order by e.place`,
);

/**
 * Returns events in the given order, up to and including the event with which their total size reaches `bytesMax`. The other events must be
 * read later. Deleted events are absent.
 */
export async function readInboxEvents(
  db: Executor,
  wanted: readonly { readonly projectId: ProjectId; readonly eventId: EventId }[],
  bytesMax: number,
): Promise<InboxEvent[]> {
  if (wanted.length === 0) return [];
  const names = wanted.map(({ projectId, eventId: id }) => ({ projectId, id }));
  return (await readEvents(db, { wanted: names, bound: { bytesMax } })).map((row) => eventColumns.read(row));
}
