import type { ProjectId } from "@svc/core";
import { readDuePublications, readLoggedAskDeliveries } from "@svc/db/asks/read";
import type { AskRecord } from "@svc/db/asks/repo";
import type { Executor } from "@svc/db/connect";
import { type EventDeliveries, readEventDeliveries } from "@svc/db/deliveries/read";
import { subjectText } from "./task-subject.ts";

const fates = ["", "pending", "delivered", "dead-letter"] as const;

/**
 * State of the delivery of an ask (a question of a job to a person) to the project's endpoints. Empty if the ask was sent to no endpoint.
 */
export type AskDelivery = (typeof fates)[number];

/** The fields of an ask (a question of a job to a person) that are needed to find its deliveries to endpoints. */
export type PublishedAsk = Pick<AskRecord, "id" | "jobId" | "eventIds">;

/**
 * `delivery`: the current state of sending an ask (a job's question to a person) to the project's ask endpoints. `nextAttemptAt`: the
 * earliest time at which this state can change by itself, in epoch milliseconds; undefined if the state is final.
 */
export type AskDeliveryState = { readonly delivery: AskDelivery; readonly nextAttemptAt: number | undefined };

/**
 * Returns the delivery state of each given ask (question of a job to a person), in the order of the asks. If the project has an ask
 * endpoint (a URL that receives its questions), a new ask is `pending` even before the task that sends it has run.
 */
export async function readAskFates(
  db: Executor,
  projectId: ProjectId,
  asks: readonly AskRecord[],
): Promise<readonly AskDelivery[]> {
  const taskOf = ({ id: askId, jobId, hopIndex }: AskRecord) => {
    return { jobId, subject: subjectText({ kind: "publish", askId, hopIndex }) };
  };
  const open = asks.filter(({ state }) => state !== "withdrawn");
  const [states, due] = await Promise.all([
    readAskDeliveries(db, projectId, asks),
    readDuePublications(db, open.map(taskOf)),
  ]);
  return asks.map((ask, index) => {
    const delivery = states[index]?.delivery ?? "";
    return delivery !== "dead-letter" && due.has(taskOf(ask).subject) ? "pending" : delivery;
  });
}

/**
 * Returns for each question if it was delivered to the project's endpoints, in the order of `asks`. The state is `dead-letter` if svc gave
 * up any of its deliveries, otherwise `pending` if any is not delivered yet, otherwise `delivered`. If the deliveries are already deleted,
 * the state comes from the job's log.
 */
export async function readAskDeliveries(
  db: Executor,
  projectId: ProjectId,
  asks: readonly PublishedAsk[],
): Promise<AskDeliveryState[]> {
  const eventIds = asks.flatMap((ask) => ask.eventIds);
  const found = await readEventDeliveries(db, projectId, eventIds);
  const byEvent = new Map(found.map((entry) => [entry.eventId, entry]));
  const entriesOf = (ask: PublishedAsk) => ask.eventIds.flatMap((id) => byEvent.get(id) ?? []);
  const past = asks.filter((ask) => ask.eventIds.length > 0 && entriesOf(ask).length === 0);
  const logged = await readLoggedAskDeliveries(db, past);
  return asks.map((ask) => {
    const entries = entriesOf(ask);
    if (entries.length > 0) return stateOf(entries);
    const known = logged.get(ask.id);
    return { delivery: fates.find((fate) => fate === known) ?? "", nextAttemptAt: undefined };
  });
}

function stateOf(entries: readonly EventDeliveries[]): AskDeliveryState {
  const times = entries.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []);
  const nextAttemptAt = times.length === 0 ? undefined : Math.min(...times);
  if (entries.some(({ isDead }) => isDead)) return { delivery: "dead-letter", nextAttemptAt };
  return { delivery: entries.some(({ isPending }) => isPending) ? "pending" : "delivered", nextAttemptAt };
}
