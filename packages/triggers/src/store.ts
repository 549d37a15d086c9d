import { createHash } from "node:crypto";
import {
  type Clock,
  coreFaults,
  createId,
  type EventId,
  type Fault,
  type NodeId,
  type ProjectId,
  type SubscriptionId,
} from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import {
  inOrderOfDedupe,
  type NewDelivery,
  type NewEvent,
  type RecordResult,
  type RoutingSnapshot,
  recordEvents,
} from "@svc/db/events/record";
import { holdDeploymentRouting, holdProjectRouting } from "@svc/db/projects/repo";
import { type Dispatcher, type Endpoint, type OutgoingDelivery, outgoingOf } from "@svc/delivery";
import type { Filters } from "./filters/filters.ts";
import { type FilteredPosts, filterPosts, type KnownOutcomes, newReceipt } from "./filters/posts.ts";
import type { PostQuotas, PostRefusal } from "./post-quotas.ts";
import { noteStored } from "./refuse-posts.ts";
import type { ReceivingProject, RoutedPost, Routing, RoutingView } from "./routing.ts";

/** The refused webhook posts of a batch. Every receiver of such a post is over a quota. */
type RefusedPosts = ReadonlyMap<RoutedPost, PostRefusal>;

/** A webhook post that was verified and converted to an event, but is not stored yet. */
export type NormalizedEvent = RoutedPost & {
  /** JSON text of the normalized body. */
  payload: string;
  /** Key that identifies duplicates. Empty if the event never counts as a duplicate. */
  dedupe: string;
  occurredAtMs: number;
  receivedAtMs: number;
  /** Projects for which svc has accepted an element of the same list in a webhook post. svc then accepts their other elements too. */
  roomy?: Set<ProjectId>;
  /** The span that stores the event, as a W3C `traceparent`. */
  traceparent?: string;
};

/**
 * Result of storing a webhook post.
 * - `stored`: the post's event is stored. `events`: number of projects that have the event. `fresh`: number of projects that did not have
 *   it before. `eventId`: id of the first project's event; undefined if this event was already stored.
 * - `no_project`: the post belongs to none of the projects.
 * - `over_quota`: every project that would receive the post is over a quota.
 */
export type StoreOutcome =
  | { outcome: "stored"; events: number; fresh: number; eventId: EventId | undefined }
  | { outcome: "no_project" }
  | { outcome: "over_quota"; refusal: Fault };

/** Dependencies of storing events. */
export type StoreOptions = {
  clock: Clock;
  nodeId: NodeId;
  routing: Routing;
  filters: Filters;
  dispatcher: Pick<Dispatcher, "room" | "submit" | "endpoints" | "leaseMs">;
  /** Limits what projects receive. Absent if an administrator releases webhook posts, because released posts are never refused. */
  quotas?: PostQuotas | undefined;
  /** Called after events were stored that start standing programs (programs that start jobs on a schedule or event). */
  onHeard?: (() => void) | undefined;
  /** Called for every event that was stored, but not for duplicates of events that were stored before. */
  onStored?: ((projectId: ProjectId, toolkitSlug: string) => void) | undefined;
};

/**
 * Maximum number of attempts to store posts with the cached routing (which subscriptions receive an event). If the routing changes at each
 * attempt, the next attempt locks it.
 */
const staleMax = 3;
/**
 * Maximum size of the event payloads that one insert statement stores, in bytes. An event of several projects has one row for each project.
 */
const statementBytesMax = 1_048_576;

/**
 * Stores webhook posts in one commit, as events with their deliveries. Rejects if the database fails; then nothing is stored. `lease`: true
 * to send the deliveries at once; false inside a transaction.
 */
export async function storePosts(
  options: StoreOptions,
  db: Executor,
  posts: readonly NormalizedEvent[],
  { lease }: { lease: boolean } = { lease: true },
): Promise<StoreOutcome[]> {
  let attempt: StoreAttempt | undefined;
  const batch: Batch = { posts, lease, admitted: new Set(), known: new Map() };
  for (let tries = 0; attempt === undefined && tries < staleMax; tries++) {
    attempt = await tryToStore(options, db, batch);
  }
  attempt ??= await storeOnHeldRouting(options, db, batch);
  const { plan, refused, duplicates, leaseUntilMs } = attempt;
  noteRefused(options.quotas, refused);
  noteStored(options.quotas, plan.events, duplicates);
  if (options.onStored !== undefined) {
    for (const { id, projectId, toolkitSlug } of plan.events) {
      if (!duplicates.has(id)) options.onStored(projectId, toolkitSlug);
    }
  }
  options.dispatcher.submit(plan.firstSends(duplicates, leaseUntilMs), plan.unleased);
  countFaults(options.filters, plan, duplicates);
  if (plan.events.some(({ id, subscribedVersion }) => subscribedVersion !== undefined && !duplicates.has(id)))
    options.onHeard?.();
  const taken = plan.results(duplicates).values();
  return posts.map((post): StoreOutcome => {
    const refusal = refused.get(post);
    if (refusal !== undefined) return { outcome: "over_quota", refusal: refusal.fault };
    return taken.next().value ?? { outcome: "no_project" };
  });
}

/**
 * Webhook posts to store. `lease`: true if this node sends their deliveries. `admitted`: posts that were already counted for quotas.
 * `known`: results of filters.
 */
type Batch = { posts: readonly NormalizedEvent[]; lease: boolean; admitted: Set<RoutedPost>; known: KnownOutcomes };
type StoreAttempt = { plan: Plan; refused: RefusedPosts; duplicates: ReadonlySet<string>; leaseUntilMs: number };

/**
 * Stores the posts with the routing (which subscriptions receive an event) that this node has cached. Returns undefined and stores nothing
 * if the database has a newer routing.
 */
async function tryToStore(options: StoreOptions, db: Executor, batch: Batch): Promise<StoreAttempt | undefined> {
  const { posts, lease } = batch;
  const routing = await options.routing.prepare(db, posts);
  const refused = refusePosts(options.quotas, routing, batch);
  const taken = refused.size === 0 ? posts : posts.filter((post) => !refused.has(post));
  const filtered = await filterPosts(options, routing, taken, batch.known);
  const plan = planEvents(options, { routing, filtered }, taken, lease);
  // The projects of refused posts are included: a post is refused by the quotas that this node knows, and these may be outdated. So the
  // versions of these projects are also compared with the database.
  const projects = new Set([
    ...plan.events.map((event) => event.projectId),
    ...[...refused.keys()].flatMap((post) => routing.receivers(post).map(({ projectId }) => projectId)),
  ]);
  const leaseUntilMs = options.clock.now() + options.dispatcher.leaseMs;
  const recorded = await recordAll(db, plan.events, routing.seen(projects), {
    owner: options.nodeId,
    untilMs: leaseUntilMs,
  });
  if (!recorded.stale) return { plan, refused, duplicates: recorded.duplicates, leaseUntilMs };
  if (recorded.moved === undefined) options.routing.forget(projects);
  else options.routing.moveShards(recorded.moved);
  return undefined;
}

/**
 * Stores the webhook posts after it has read the routing (which projects and subscriptions receive posts) again, and locks the routing
 * until the commit. So posts are stored even if some projects constantly change their routing.
 */
function storeOnHeldRouting(options: StoreOptions, db: Executor, batch: Batch): Promise<StoreAttempt> {
  const { posts } = batch;
  return withTransaction(db, async (tx) => {
    await holdDeploymentRouting(tx);
    options.routing.forget([]);
    const { receivers } = await options.routing.prepare(tx, posts);
    const projects = new Set(posts.flatMap((post) => receivers(post).map((receiver) => receiver.projectId)));
    await holdProjectRouting(tx, [...projects]);
    options.routing.forget(projects);
    const attempt = await tryToStore(options, tx, batch);
    if (attempt === undefined) throw new Error("routing changed while it was held");
    return attempt;
  });
}

/**
 * Stores events with as many statements as the size of their payloads requires. It stores all events or none. Stores none if the routing
 * (which subscriptions receive an event) has changed in the database.
 */
async function recordAll(
  db: Executor,
  events: readonly NewEvent[],
  routing: RoutingSnapshot,
  lease: { owner: NodeId; untilMs: number },
): Promise<RecordResult> {
  const [first = [], ...others] = chunksOf(inOrderOfDedupe(events));
  if (others.length === 0) return recordEvents(db, first, routing, lease);
  const duplicates = new Set<string>();
  try {
    await withTransaction(db, async (tx) => {
      for (const chunk of [first, ...others]) {
        const outcome = await recordEvents(tx, chunk, routing, lease);
        if (outcome.stale) throw new StaleRouting(outcome);
        for (const id of outcome.duplicates) duplicates.add(id);
      }
    });
  } catch (error) {
    if (error instanceof StaleRouting) return error.outcome;
    throw error;
  }
  return { stale: false, duplicates };
}

/**
 * Thrown if a statement finds that the routing (which subscriptions receive which webhook post) has changed, so that the statements before
 * it are rolled back.
 */
class StaleRouting extends Error {
  readonly outcome: RecordResult;

  constructor(outcome: RecordResult) {
    super("the routing has changed");
    this.outcome = outcome;
  }
}

function chunksOf(events: readonly NewEvent[]): NewEvent[][] {
  const chunks: NewEvent[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const event of events) {
    // One character counts as one byte here, because the limit is approximate.
    if (bytes + event.payload.length > statementBytesMax) {
      chunks.push([]);
      bytes = 0;
    }
    chunks.at(-1)?.push(event);
    bytes += event.payload.length;
  }
  return chunks;
}

type Plan = {
  events: NewEvent[];
  /** Returns one result for each webhook post. `duplicates`: the events that were already stored. */
  results(duplicates: ReadonlySet<string>): StoreOutcome[];
  firstSends(duplicates: ReadonlySet<string>, leaseUntilMs: number): OutgoingDelivery[];
  /** Subscriptions with new deliveries for which this node has no lease (time-limited right to send). */
  unleased: ReadonlySet<SubscriptionId>;
  /** Events that a subscription does not get because its filter could not be evaluated for them, for example because a field is absent. */
  faults: readonly { readonly event: NewEvent; readonly subscriptionId: SubscriptionId }[];
};

/**
 * Returns all rows that storing a batch of webhook posts writes. If several posts of a batch are equal, only the first becomes an event,
 * and all of them get the same answer.
 */
function planEvents(
  options: StoreOptions,
  { routing, filtered }: { readonly routing: RoutingView; readonly filtered: FilteredPosts },
  posts: readonly NormalizedEvent[],
  lease: boolean,
): Plan {
  const events: NewEvent[] = [];
  const faults: Plan["faults"][number][] = [];
  const leased: FirstSend[] = [];
  const unleased = new Set<SubscriptionId>();
  const known = new Map<string, NewEvent>();
  const rooms = new Map<SubscriptionId, number>();
  const takeRoom = (id: SubscriptionId, projectId: ProjectId) => {
    const room = rooms.get(id) ?? options.dispatcher.room(id, projectId);
    rooms.set(id, room - 1);
    return room > 0;
  };
  const nowMs = options.clock.now();
  const addEvent = (post: NormalizedEvent, receiver: ReceivingProject): PlannedEvent => {
    const { projectId, entityId } = receiver;
    const { id: eventId, receivedAtMs } = filtered.receipt(post, receiver) ?? newReceipt(post, nowMs);
    const dedupeKey = storableKey(post.dedupe);
    const name = `${projectId} ${post.triggerSlug} ${dedupeKey}`;
    const twin = dedupeKey === "" ? undefined : known.get(name);
    if (twin !== undefined) return { event: twin, isOwn: false };
    const event: NewEvent = {
      id: eventId,
      projectId,
      kind: "event",
      toolkitSlug: post.toolkitSlug,
      triggerSlug: post.triggerSlug,
      entityId,
      payload: post.payload,
      occurredAtMs: post.occurredAtMs,
      receivedAtMs,
      dedupeKey,
      account: post.account,
      traceparent: post.traceparent,
      deliveries: [],
      subscribedVersion: routing.heardAt(projectId, post),
    };
    for (const subscription of routing.subscribers(receiver, post, receivedAtMs)) {
      const filter = subscription.settings?.filter;
      const outcome = filter === undefined ? "match" : filtered.outcome(post, receiver, filter);
      if (outcome === "fault") faults.push({ event, subscriptionId: subscription.id });
      if (outcome === "fault" || outcome === "no_match") continue;
      // True if this node has room to send the delivery itself, directly after the commit.
      // If the subscription's secret cannot be decrypted, this node does not send the delivery. A node claims it later and reports the
      // error then. The error must not occur after the commit of the event.
      // A delivery of a subscription with a pace is always claimed, because only a claim knows how many may start.
      const isPaced = subscription.settings?.pace !== undefined;
      const isTaken = lease && !isPaced && takeRoom(subscription.id, projectId);
      const endpoint = isTaken ? options.dispatcher.endpoints.of(subscription) : undefined;
      const delivery = {
        id: createId("dlv", receivedAtMs),
        subscriptionId: subscription.id,
        leased: endpoint !== undefined,
      };
      event.deliveries.push(delivery);
      if (endpoint === undefined) unleased.add(subscription.id);
      else leased.push({ event, delivery, endpoint });
    }
    events.push(event);
    known.set(name, event);
    return { event, isOwn: true };
  };
  const planned = posts.map((post) => routing.receivers(post).map((receiver) => addEvent(post, receiver)));
  return {
    events,
    unleased,
    faults,
    results: (duplicates) =>
      planned.map((row): StoreOutcome => {
        const [first] = row;
        if (first === undefined) return { outcome: "no_project" };
        const fresh = row.filter(({ event, isOwn }) => isOwn && !duplicates.has(event.id)).length;
        const eventId = duplicates.has(first.event.id) ? undefined : first.event.id;
        return { outcome: "stored", events: row.length, fresh, eventId };
      }),
    firstSends: (duplicates, leaseUntilMs) =>
      leased
        .filter(({ event }) => !duplicates.has(event.id))
        .map(({ event, delivery: { id, subscriptionId }, endpoint }) =>
          outgoingOf(event, { id, subscriptionId, projectId: event.projectId }, endpoint, leaseUntilMs),
        ),
  };
}

/** The event that a webhook post becomes for one project. `isOwn`: false if svc made the event from an equal post. */
type PlannedEvent = { readonly event: NewEvent; readonly isOwn: boolean };
type FirstSend = { event: NewEvent; delivery: NewDelivery; endpoint: Endpoint };

/** Counts, for each subscription, the stored events for which its filter could not be evaluated. */
function countFaults(filters: Filters, { faults }: Plan, duplicates: ReadonlySet<string>): void {
  const counts = new Map<SubscriptionId, number>();
  for (const { event, subscriptionId } of faults)
    if (!duplicates.has(event.id)) counts.set(subscriptionId, (counts.get(subscriptionId) ?? 0) + 1);
  filters.countFaults(counts);
}

const keyCharactersMax = 200;

/**
 * Returns a dedupe key in a form that can be stored. A key is replaced by its digest if it is long or if the database cannot store it
 * (U+0000, unpaired surrogates).
 */
export function storableKey(key: string): string {
  if (key.length <= keyCharactersMax && !key.includes("\0") && key.isWellFormed()) return key;
  // The digest uses UTF-16. In UTF-8, every unpaired surrogate would become the same character.
  return `sha256:${createHash("sha256").update(key, "utf16le").digest("hex")}`;
}

/**
 * Returns the webhook posts that are refused because each receiving project is over a quota. The other posts are counted and added to
 * `admitted`.
 */
function refusePosts(
  quotas: PostQuotas | undefined,
  routing: RoutingView,
  { posts, admitted }: { readonly posts: readonly NormalizedEvent[]; readonly admitted: Set<RoutedPost> },
): RefusedPosts {
  const refused = new Map<RoutedPost, PostRefusal>();
  for (const post of posts) {
    const projectIds = routing.receivers(post).map(({ projectId }) => projectId);
    // Even an admitted post: the move may have begun after its first try. The sender posts it again, to the cell that then has the project.
    const moving = projectIds.flatMap((id) => routing.holdOf(id) ?? [])[0];
    if (moving !== undefined) refused.set(post, { fault: coreFaults.PROJECT_MOVING(moving.hold, moving.to), over: [] });
    if (quotas === undefined || moving !== undefined || admitted.has(post)) continue;
    const receivers = projectIds.map((projectId) => ({ projectId, quotas: routing.quotasOf(projectId) }));
    const isRest = receivers.some(({ projectId }) => post.roomy?.has(projectId));
    const refusal = quotas.admit(receivers, isRest);
    if (refusal !== undefined) refused.set(post, refusal);
    else {
      admitted.add(post);
      for (const { projectId } of receivers) post.roomy?.add(projectId);
    }
  }
  return refused;
}

/** Counts the posts of a batch that were refused because of quotas. */
function noteRefused(quotas: PostQuotas | undefined, refused: RefusedPosts): void {
  for (const refusal of refused.values()) quotas?.refused(refusal);
}
