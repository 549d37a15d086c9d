import {
  createId,
  idOfUuid,
  type OperationalEventName,
  type OperationalEventPayload,
  operationalToolkitSlug,
  operationalTriggerSlug,
  type ProjectId,
  type StandingProgramId,
  type SubscriptionId,
  uuidOfId,
} from "@svc/core";
import { afterCommit, type Executor } from "../connect.ts";
import { projects } from "../schema/projects.ts";
import { subscriptions } from "../schema/triggers.ts";
import { fieldsOf, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { type NewEvent, recordEvents } from "./record.ts";

/** An operational event to publish. */
export type OperationalEvent<Name extends OperationalEventName = OperationalEventName> = {
  [Of in Name]: {
    readonly name: Of;
    readonly projectId: ProjectId;
    /** Entity (customer or user) that owns the thing that the event is about. Empty if it has no owner. */
    readonly entityId: string;
    /**
     * Key of the occurrence (the incident that the event reports). A second event of the type with this key is not stored. Make it with
     * `occurrenceOf`.
     */
    readonly occurrence: string;
    /** Subscription about which this event reports, for example because its endpoint fails. The subscription never receives the event. */
    readonly about?: SubscriptionId | undefined;
    readonly payload: OperationalEventPayload<Of>;
  };
}[Name];

/**
 * Returns the key of an operational event, by which a second event about the same occurrence is recognized. It begins with the id of the
 * thing that the event is about. `parts`, such as a minute, distinguish several events about this thing.
 */
export function occurrenceOf(id: Parameters<typeof uuidOfId>[0], ...parts: readonly (string | number)[]): string {
  return [uuidOfId(id), ...parts].join("/");
}

/**
 * Applies the filters of subscriptions (CEL expressions that select events) to operational events, in the same way as to all other events.
 * The caller passes an object of this type, because this package does not evaluate expressions.
 */
export type OperationalFilters = {
  /**
   * Returns a function that applies subscription filters to an event, with an outcome for each filter. `fault`: the filter could not be
   * evaluated. `unevaluated`: svc did not evaluate the filter, and the event counts as a match. `line`: the queue in which large work
   * waits.
   */
  begin(
    line: string,
  ): (
    event: NewEvent,
    filters: Iterable<string>,
  ) => Promise<ReadonlyMap<string, { readonly outcome: "match" | "no_match" | "unevaluated" | "fault" }>>;
  /** Adds to each subscription's stored count the number of events for which its filter failed. Does not wait for the database. */
  countFaults(counts: ReadonlyMap<SubscriptionId, number>): void;
};

type StoredReceiver = Readonly<
  Row<
    typeof subscriptions,
    "id" | "toolkitSlug" | "triggerSlug" | "triggerSlugs" | "entityId" | "active" | "expiresAt" | "eventTypes"
  >
>;

/** A subscription that may receive operational events. `filter`: the filter in its settings, null if it has none. */
type Receiver = StoredReceiver & { readonly filter: string | null };

/**
 * Receivers of operational events (events about the project itself) in a project. `subscriptions`: the subscriptions of the whole project
 * that name such events. `hasEntities`: true if subscriptions of single entities (customers or users) name them too. `triggers`: such events
 * on which schedules start.
 */
type Receivers = {
  readonly routingVersion: number;
  readonly triggers: readonly string[];
  readonly hasEntities: boolean;
  readonly subscriptions: Receiver[];
};

/** Subscriptions to operational events that belong to one entity. The key is made by `receiverKey` from the project and the entity. */
type EntityReceivers = ReadonlyMap<string, readonly Receiver[]>;

const columns = selectList(
  subscriptions,
  ["id", "toolkitSlug", "triggerSlug", "triggerSlugs", "entityId", "active", "expiresAt", "eventTypes"],
  "s",
);

/**
 * SQL condition that a trigger's slug begins with `svc.`, as the slugs of operational events (events that svc makes about a project) do. An
 * index on the slug can be used for it.
 */
const isOperational = "trigger_slug >= 'svc.' and trigger_slug < 'svc/'";

type FilteredRow = RawRow<StoredReceiver> & { filter: string | null };
type ReceiverRow = FilteredRow & {
  project_id: string;
  routing_version: string;
  triggers: string[] | null;
  has_entities: boolean;
};

/**
 * Finds the subscriptions and schedules of several projects that receive operational events. `has_entities`: true if subscriptions of
 * entities may receive them too. Those are not listed, because a project may have 100,000 of them.
 */
const selectReceivers = compose(
  "find_operational_receivers",
  { wanted: rows(fieldsOf(projects, "id")) },
  ({ wanted }) => query<ReceiverRow>`
    select p.id as project_id, p.routing_version, l.triggers, e.has_entities, s.settings ->> 'filter' as filter, ${columns.text}
    from ${wanted.from("w")} join projects p on p.id = w.id and p.hold in ('', 'moving')
    cross join lateral (
      select exists (select from subscriptions where project_id = p.id and entity_id > '' and toolkit_slug = 'svc' offset 0) as has_entities
      offset 0) e
    cross join lateral (
      select array_agg(distinct trigger_slug) as triggers from standing_listeners
      where project_id = p.id and ${isOperational} and until_version is null offset 0) l
    left join lateral (
      select * from subscriptions where project_id = p.id and entity_id = '' and (toolkit_slug = 'svc' or event_types <> '{}') offset 0) s on true
    where s.id is not null or l.triggers is not null or e.has_entities`,
);

/** Finds the subscriptions of entities (customers or users) that name operational events, by the index subscriptions_operational. */
const selectEntityReceivers = compose(
  "find_entity_receivers",
  { wanted: rows(fieldsOf(subscriptions, "projectId", "entityId")) },
  ({ wanted }) => query<FilteredRow & { project_id: string }>`
    select w.project_id, s.settings ->> 'filter' as filter, ${columns.text}
    from ${wanted.from("w")} cross join lateral (
      select * from subscriptions where project_id = w.project_id and entity_id = w.entity_id and toolkit_slug = 'svc' offset 0) s`,
);

/**
 * Finds the projects after $1 with a receiver of operational events, in the order of their ids, at most $2. For each project, it looks into
 * the indexes subscriptions_operational and standing_listeners_trigger.
 */
const selectReceiving = statement<{ id: string }>(
  "find_operational_projects",
  `select p.id from projects p where p.id > $1::uuid and p.hold = '' and (
     exists (select from subscriptions s where s.project_id = p.id and s.toolkit_slug = 'svc')
     or exists (select from standing_listeners l where l.project_id = p.id and l.${isOperational.replace("and ", "and l.")} and l.until_version is null))
   order by p.id limit $2::int8`,
);

const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * Returns the ids of projects with a receiver for operational events (events of svc itself), in ascending order, at most `most`. `after`:
 * the last id of the previous page; undefined for the first page.
 */
export async function findOperationalProjects(
  db: Executor,
  after: ProjectId | undefined,
  most: number,
): Promise<ProjectId[]> {
  const found = await selectReceiving(db, [after === undefined ? firstId : uuidOfId(after), most]);
  return found.map(({ id }) => idOfUuid("prj", id));
}

/**
 * Finds one of the given standing programs (they start jobs on a schedule or event) that is started by operational events. Uses the primary
 * key of standing_listeners.
 */
const selectStarted = statement<{ id: string }>(
  "find_operational_listeners",
  `select program_id as id from standing_listeners where program_id = any($1::uuid[]) and ${isOperational} limit 1`,
);

/**
 * Returns true if one of these schedules starts on operational events (events of svc itself, such as `svc.job_failed`), or started on them
 * a short time ago.
 */
export async function startsOnOperationalEvents(
  db: Executor,
  programIds: readonly StandingProgramId[],
): Promise<boolean> {
  if (programIds.length === 0) return false;
  return (await selectStarted(db, [arrayLiteral(programIds.map(uuidOfId))])).length > 0;
}

/**
 * Makes operational events from facts, such as failed jobs, and stores them with their deliveries in the transaction `tx`. Returns true if
 * there is a delivery to send. `eventsOf`: makes the events. It gets only the facts of projects that have a receiver for operational
 * events.
 */
export async function publishOperationalEvents<Fact extends { readonly projectId: ProjectId }>(
  tx: Executor,
  facts: readonly Fact[],
  eventsOf: (facts: readonly Fact[]) => readonly OperationalEvent[] | Promise<readonly OperationalEvent[]>,
  { filters, nowMs }: { readonly filters: OperationalFilters; readonly nowMs: number },
): Promise<boolean> {
  if (facts.length === 0) return false;
  const byProject = await findReceivers(tx, new Set(facts.map(({ projectId }) => projectId)));
  const received = facts.filter(({ projectId }) => byProject.has(projectId));
  if (received.length === 0) return false;
  const made = new Map<string, RoutedEvent>();
  const occurred = await eventsOf(received);
  const ofEntities = await findEntityReceivers(tx, byProject, occurred);
  for (const event of occurred) {
    const receivers = byProject.get(event.projectId);
    const routed = receivers && routedEventOf(event, receivers, { ofEntities, nowMs });
    const key = `${event.projectId} ${event.name} ${event.occurrence}`;
    if (routed !== undefined && !made.has(key)) made.set(key, routed);
  }
  if (made.size === 0) return false;
  const filtered = await filterReceivers([...made.values()], filters);
  const events = filtered.map(({ event, receiving }) => ({ ...event, deliveries: deliveriesTo(receiving, nowMs) }));
  const recorded = await recordEvents(tx, events, undefined, undefined);
  if (recorded.stale) throw new Error("events without a routing are never refused");
  const stored = filtered.filter(({ event }) => !recorded.duplicates.has(event.id));
  const faults = Map.groupBy(
    stored.flatMap(({ faulty }) => faulty),
    (id) => id,
  );
  if (faults.size > 0) afterCommit(tx, filters.countFaults, new Map([...faults].map(([id, all]) => [id, all.length])));
  return stored.some(({ receiving }) => receiving.length > 0);
}

/** An operational event to store, with the subscriptions that receive it. `event` has no deliveries yet. */
type RoutedEvent = { readonly event: NewEvent; readonly receiving: readonly Receiver[] };

/**
 * An operational event after the filters of its subscriptions were applied. `faulty`: the subscriptions that do not receive the event,
 * because their filter could not be evaluated for it.
 */
type ReceivedEvent = RoutedEvent & { readonly faulty: readonly SubscriptionId[] };

/** Removes from each event the subscriptions whose filter does not accept it. */
async function filterReceivers(routed: readonly RoutedEvent[], filters: OperationalFilters): Promise<ReceivedEvent[]> {
  const lines = new Map<ProjectId, ReturnType<OperationalFilters["begin"]>>();
  const filtered: ReceivedEvent[] = [];
  for (const { event, receiving } of routed) {
    const wanted = receiving.flatMap(({ filter }) => filter ?? []);
    if (wanted.length === 0) {
      filtered.push({ event, receiving, faulty: [] });
      continue;
    }
    const apply = lines.get(event.projectId) ?? filters.begin(`project:${event.projectId}`);
    lines.set(event.projectId, apply);
    const outcomes = await apply(event, wanted);
    const outcomeOf = ({ filter }: Receiver) => (filter === null ? "match" : outcomes.get(filter)?.outcome);
    filtered.push({
      event,
      receiving: receiving.filter((one) => ["match", "unevaluated"].includes(outcomeOf(one) ?? "")),
      faulty: receiving.flatMap((one) => (outcomeOf(one) === "fault" ? one.id : [])),
    });
  }
  return filtered;
}

function deliveriesTo(receiving: readonly Receiver[], nowMs: number): NewEvent["deliveries"] {
  return receiving.map(({ id }) => ({ id: createId("dlv", nowMs), subscriptionId: id, leased: false }));
}

async function findReceivers(tx: Executor, ids: ReadonlySet<ProjectId>): Promise<Map<ProjectId, Receivers>> {
  const byProject = new Map<ProjectId, Receivers>();
  for (const row of await selectReceivers(tx, { wanted: [...ids].map((id) => ({ id })) })) {
    const { project_id, routing_version, triggers, has_entities: hasEntities, filter, ...subscription } = row;
    const projectId = idOfUuid("prj", project_id);
    const receivers = byProject.get(projectId) ?? {
      ...{ routingVersion: Number(routing_version), hasEntities },
      triggers: triggers ?? [],
      subscriptions: [],
    };
    byProject.set(projectId, receivers);
    if (subscription.id !== null) receivers.subscriptions.push({ ...columns.read(subscription), filter });
  }
  return byProject;
}

/**
 * Returns the subscriptions that receive only the operational events of their own entity (customer or user), for the entities of the given
 * events. Sends no statement if the projects of these events have no such subscription.
 */
async function findEntityReceivers(
  tx: Executor,
  byProject: ReadonlyMap<ProjectId, Receivers>,
  events: readonly OperationalEvent[],
): Promise<EntityReceivers> {
  const named = events.filter(({ projectId, entityId }) => entityId !== "" && byProject.get(projectId)?.hasEntities);
  if (named.length === 0) return new Map();
  const wanted = new Map(
    named.map(({ projectId, entityId }) => [receiverKey(projectId, entityId), { projectId, entityId }]),
  );
  const found = await selectEntityReceivers(tx, { wanted: [...wanted.values()] });
  const receivers = found.flatMap(({ project_id, filter, ...row }) =>
    row.id === null ? [] : [{ projectId: idOfUuid("prj", project_id), receiver: { ...columns.read(row), filter } }],
  );
  const byEntity = Map.groupBy(receivers, ({ projectId, receiver }) => receiverKey(projectId, receiver.entityId));
  return new Map([...byEntity].map(([key, own]) => [key, own.map(({ receiver }) => receiver)]));
}

function receiverKey(projectId: ProjectId, entityId: string): string {
  return `${projectId} ${entityId}`;
}

/**
 * Returns the operational event to store, with the subscriptions that may receive it. Undefined if the project does not use operational
 * events.
 */
function routedEventOf(
  event: OperationalEvent,
  { routingVersion, triggers, hasEntities, subscriptions: own }: Receivers,
  { ofEntities, nowMs }: { readonly ofEntities: EntityReceivers; readonly nowMs: number },
): RoutedEvent | undefined {
  const triggerSlug = operationalTriggerSlug(event.name);
  const all = [...own, ...(ofEntities.get(receiverKey(event.projectId, event.entityId)) ?? [])];
  const receiving = all.filter((one) => one.active && one.id !== event.about && isReceiver(one, event, nowMs));
  const isNamed =
    hasEntities || triggers.length > 0 || own.some(({ toolkitSlug }) => toolkitSlug === operationalToolkitSlug);
  if (!isNamed && receiving.length === 0) return undefined;
  const stored: NewEvent = {
    ...{ id: createId("evt", nowMs), projectId: event.projectId, kind: "event" },
    ...{ toolkitSlug: operationalToolkitSlug, triggerSlug, entityId: event.entityId, dedupeKey: event.occurrence },
    ...{ payload: JSON.stringify(event.payload), occurredAtMs: nowMs, receivedAtMs: nowMs },
    deliveries: [],
    subscribedVersion: triggers.includes(triggerSlug) ? routingVersion : undefined,
  };
  return { event: stored, receiving };
}

function isReceiver(
  { toolkitSlug, triggerSlug, triggerSlugs, entityId, expiresAt, eventTypes }: Receiver,
  event: OperationalEvent,
  nowMs: number,
): boolean {
  if (toolkitSlug !== operationalToolkitSlug) return eventTypes.includes(noticeTypeOf(event.name));
  const named = triggerSlug === "" ? triggerSlugs : [triggerSlug];
  const isNamed = named.length === 0 || named.includes(operationalTriggerSlug(event.name));
  return isNamed && (entityId === "" || entityId === event.entityId) && (expiresAt === null || expiresAt > nowMs);
}

/** Returns the name of an operational event for endpoints that receive questions, for example `standing_paused` for `schedule_paused`. */
function noticeTypeOf(name: OperationalEventName): string {
  return name.replace(/^schedule_/, "standing_");
}
