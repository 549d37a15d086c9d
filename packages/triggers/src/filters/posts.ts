import { type Clock, createId, type EventId, type ProjectId } from "@svc/core";
import type { FilterOutcome } from "@svc/program";
import type { ReceivingProject, RoutedPost, RoutingView } from "../routing.ts";
import type { Filters } from "./filters.ts";

/**
 * A webhook post with the data that filters of subscriptions need to decide about its events. Times in epoch milliseconds; `payload`: JSON
 * text.
 */
type FilterablePost = RoutedPost & {
  readonly payload: string;
  readonly occurredAtMs: number;
  readonly receivedAtMs: number;
};

/** Id and time of receipt of an event. */
export type Receipt = { readonly id: EventId; readonly receivedAtMs: number };

/** The results of the filters of a batch of webhook posts. */
export type FilteredPosts = {
  /** Returns the result of a filter for the event that a project receives from a webhook post. */
  outcome(post: FilterablePost, receiver: ReceivingProject, filter: string): FilterOutcome["outcome"];
  /**
   * Returns the event id and the time of receipt that were used when filters were evaluated for this webhook post and project. The event
   * must be stored with the same values, because filters can refer to them. Undefined if no filter used them.
   */
  receipt(post: FilterablePost, receiver: ReceivingProject): Receipt | undefined;
};

/** Results that were computed for a batch, by webhook post, receiver and filter. They stay valid when the batch is tried again. */
export type KnownOutcomes = Map<FilterablePost, Map<ProjectId, Map<string, FilterOutcome["outcome"]>>>;

/**
 * Maximum time in milliseconds for evaluating filters that read an event's id or time of receipt. After this time, svc delivers the events
 * without these filters.
 */
const receiptMsMax = 1_000;

type Work = {
  readonly post: FilterablePost;
  readonly receiver: ReceivingProject;
  readonly filters: readonly string[];
};

/**
 * Applies the filters of a batch of webhook posts to their events, for each receiver. Filters that read the id or time of receipt come
 * last, directly before the batch is stored.
 */
export async function filterPosts(
  { filters, clock }: { readonly filters: Filters; readonly clock: Clock },
  routing: Pick<RoutingView, "receivers" | "filters">,
  posts: readonly FilterablePost[],
  known: KnownOutcomes,
): Promise<FilteredPosts> {
  const receipts = new Map<FilterablePost, Map<ProjectId, Receipt>>();
  const outcomesOf = (post: FilterablePost, { projectId }: ReceivingProject) => {
    const ofPost = known.get(post) ?? new Map<ProjectId, Map<string, FilterOutcome["outcome"]>>();
    known.set(post, ofPost);
    const outcomes = ofPost.get(projectId) ?? new Map<string, FilterOutcome["outcome"]>();
    ofPost.set(projectId, outcomes);
    return outcomes;
  };
  const all = posts.flatMap((post) =>
    routing.receivers(post).flatMap((receiver): Work[] => {
      const wanted = routing.filters(receiver, post);
      return wanted.length === 0 ? [] : [{ post, receiver, filters: wanted }];
    }),
  );
  const lines = new Map<ProjectId, ReturnType<Filters["begin"]>>();
  const run = async ({ post, receiver, filters: wanted }: Work, receipt: Receipt | undefined) => {
    const { projectId, entityId } = receiver;
    const line = lines.get(projectId) ?? filters.begin(`project:${projectId}`);
    lines.set(projectId, line);
    const { receivedAtMs = post.receivedAtMs, id = "" } = receipt ?? {};
    const outcomes = outcomesOf(post, receiver);
    const found = await line({ ...post, id, entityId, receivedAtMs }, wanted);
    for (const [filter, { outcome }] of found) outcomes.set(filter, outcome);
  };
  for (const work of all) {
    const before = outcomesOf(work.post, work.receiver);
    const wanted = work.filters.filter((filter) => !filters.readsReceipt(filter) && !before.has(filter));
    if (wanted.length > 0) await run({ ...work, filters: wanted }, undefined);
  }
  const untilMs = clock.now() + receiptMsMax;
  for (const work of all) {
    const wanted = work.filters.filter((filter) => filters.readsReceipt(filter));
    if (wanted.length === 0) continue;
    if (clock.now() > untilMs) {
      const outcomes = outcomesOf(work.post, work.receiver);
      for (const filter of wanted) outcomes.set(filter, "unevaluated");
      continue;
    }
    const receipt = newReceipt(work.post, clock.now());
    const ofPost = receipts.get(work.post) ?? new Map<ProjectId, Receipt>();
    receipts.set(work.post, ofPost.set(work.receiver.projectId, receipt));
    await run({ ...work, filters: wanted }, receipt);
  }
  return {
    outcome(post, receiver, filter) {
      const outcome = known.get(post)?.get(receiver.projectId)?.get(filter);
      if (outcome === undefined) throw new Error("a filter was not applied");
      return outcome;
    },
    receipt: (post, receiver) => receipts.get(post)?.get(receiver.projectId),
  };
}

/**
 * Maximum age of an event's id when the event is stored, in milliseconds. If storing took longer, the event gets a new id with the current
 * time.
 */
const idAgeMsMax = 1_000;

/**
 * Returns the id and the time of receipt for the event of a webhook post. Readers find new events by ascending ids, so an event that waited
 * too long counts as received now.
 */
export function newReceipt({ receivedAtMs }: Pick<FilterablePost, "receivedAtMs">, nowMs: number): Receipt {
  const atMs = nowMs - receivedAtMs > idAgeMsMax ? nowMs : receivedAtMs;
  return { id: createId("evt", atMs), receivedAtMs: atMs };
}
