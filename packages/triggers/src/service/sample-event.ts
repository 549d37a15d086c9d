import { encodeSample, type Trigger } from "@svc/catalog";
import {
  checkEndpointUrl,
  createId,
  type EventId,
  generateSigningSecret,
  type ProjectId,
  quotaFaults,
  type SubscriptionId,
} from "@svc/core";
import { countTriggerSubscriptions } from "@svc/db/standing/trigger-subscriptions";
import { subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { signingSecretContext } from "@svc/delivery";
import { normalize, turnGroup } from "../normalize.ts";
import type { WebhookToolkit } from "../private-webhooks.ts";
import { createRouting } from "../routing.ts";
import { generateWebhookSecret } from "../verify.ts";
import type { TriggersContext } from "./context.ts";

/** A sample event to store. `publicUrl`: address of the deployment, which some apps sign. */
type SampleOrder = {
  readonly projectId: ProjectId;
  readonly toolkit: WebhookToolkit;
  readonly trigger: Trigger;
  readonly publicUrl: string;
};

/** The stored event of a sample post, or the reason why the sample of the trigger became no event. */
type StoredSample =
  | { readonly eventId: EventId; readonly triggerSlug: string; readonly payload: string }
  | { readonly fault: string };

/** Maximum number of milliseconds that a sample is dated later, if an earlier sample of the same millisecond is the same event. */
const laterMax = 5;
const sampleBytesMax = 1_048_576;

/**
 * Signs a sample webhook post with a secret made for it, verifies and reads it like a post that arrived, and stores its event for one
 * project. Throws the error of a quota that refuses the event.
 */
export async function storeSampleEvent(
  { storeEvent, clock, turns }: Pick<TriggersContext, "storeEvent" | "clock" | "turns">,
  order: SampleOrder,
): Promise<StoredSample> {
  const { projectId, toolkit } = order;
  for (let later = 0; later < laterMax; later++) {
    const receivedAtMs = clock.now();
    const { inbound, secrets } = signedSample(order, receivedAtMs + later);
    const turn = () => turns.next(turnGroup(toolkit));
    const read = await normalize(toolkit, inbound, receivedAtMs, { bodyBytesMax: sampleBytesMax, turn, secrets });
    const result = read.outcome === "items" ? read.items[0] : read;
    if (result?.outcome !== "event") return { fault: faultOf(order.trigger, result) };
    const { toolkitSlug, triggerSlug, payload, dedupe, occurredAtMs } = result.event;
    const event = { toolkitSlug, triggerSlug, payload, dedupe, occurredAtMs, receivedAtMs };
    const stored = await storeEvent({ ...event, to: { projectId, entityId: "" } });
    if (stored.outcome === "over_quota") throw stored.refusal;
    if (stored.outcome === "stored" && stored.eventId !== undefined && stored.fresh > 0)
      return { eventId: stored.eventId, triggerSlug, payload };
  }
  return { fault: `the sample of ${order.trigger.slug} is the same event as an earlier one` };
}

/** The place that receives the samples of an app (toolkit): an address of a sandbox inbox. */
type SampleInbox = { readonly projectId: ProjectId; readonly toolkitSlug: string; readonly endpointUrl: string };

/**
 * Returns how many subscriptions and schedules of a project would receive a sample event of a trigger now, without the subscriptions to the
 * inbox. Subscriptions with a filter count, because the filter may accept the sample. Throws if svc may not deliver to the inbox.
 */
export async function countOtherReceivers(
  { db, clock, guard }: Pick<TriggersContext, "db" | "clock" | "guard">,
  { projectId, toolkitSlug, ...inbox }: SampleInbox,
  triggerSlug: string,
): Promise<{ readonly subscriptions: number; readonly schedules: number }> {
  const endpointUrl = checkEndpointUrl(guard, inbox.endpointUrl);
  const to = { projectId, entityId: "" };
  const post = { toolkitSlug, triggerSlug, to };
  const routing = await createRouting().prepare(db, [post]);
  const others = routing.subscribers(to, post, clock.now()).filter((row) => row.endpointUrl !== endpointUrl);
  return {
    subscriptions: others.length,
    schedules: await countTriggerSubscriptions(db, projectId, triggerSlug),
  };
}

/**
 * Returns the id of the subscription that delivers an app's events to a sandbox inbox. Creates it if there is none; concurrent calls create
 * one together. Throws if svc may not deliver to the address, or if a quota refuses the subscription.
 */
export async function subscribeInbox(
  { db, clock, sealer, guard }: Pick<TriggersContext, "db" | "clock" | "sealer" | "guard">,
  { projectId, toolkitSlug, ...inbox }: SampleInbox,
): Promise<SubscriptionId> {
  const endpointUrl = checkEndpointUrl(guard, inbox.endpointUrl);
  const repository = subscriptionsForProject(db, projectId);
  const known = await repository.findSending({ endpointUrl, toolkitSlug });
  if (known !== undefined) return known.id;
  const createdAt = clock.now();
  const id = createId("sub", createdAt);
  const signingSecret = sealer.seal(Buffer.from(generateSigningSecret(), "utf8"), signingSecretContext(projectId, id));
  const subscription = { id, endpointUrl, toolkitSlug, triggerSlug: "", signingSecret, createdAt };
  const row = await repository.create(subscription, { once: true });
  if ("quotaReached" in row) throw quotaFaults.subscriptions(row.quotaReached);
  if ("entityFull" in row) throw new Error("a subscription without an entity is refused for an entity");
  return row.id;
}

function signedSample({ toolkit, trigger, publicUrl }: SampleOrder, nowMs: number) {
  const { webhook, slug } = toolkit;
  const secret = webhook.secretOf(generateWebhookSecret(webhook));
  if (secret === undefined) throw new Error(`no secret could be made for ${slug}`);
  const at = { nowMs, publicUrl };
  const composed = { path: `/webhooks/${slug}`, ...encodeSample(webhook, trigger.sample(nowMs)) };
  const post = webhook.sign(composed, secret, at);
  const query = new URLSearchParams(post.query);
  const target = post.path + (query.size === 0 ? "" : `?${query}`);
  const inbound = { toolkitSlug: slug, headers: post.headers, query, body: post.body, target };
  if (!webhook.isVerified(inbound, [secret], at)) throw new Error(`the signed sample of ${slug} is not verified`);
  return { inbound, secrets: [secret] };
}

function faultOf(
  { slug }: Trigger,
  result: { readonly outcome: string; readonly detail?: string } | undefined,
): string {
  const detail = result?.detail ?? "the app's definition ignores it";
  return `the sample of ${slug} became no event: ${detail}`;
}
