import type { DeliveryId, ProjectId, SubscriptionId } from "@svc/core";

/** One attempt, for logs and metrics. */
export type AttemptObservation = {
  deliveryId: DeliveryId;
  projectId: ProjectId;
  subscriptionId: SubscriptionId;
  /** Number of the attempt, from 1. */
  number: number;
  /** State of the delivery after the attempt. */
  state: "pending" | "delivered" | "dead_letter";
  /** 0 if no answer came. */
  statusCode: number;
  /** Empty if delivered; otherwise begins with a code. */
  error: string;
  durationMs: number;
  /** Milliseconds from the event's receipt to the end of this attempt. */
  sinceReceivedMs: number;
};

/** Receiver of the delivery engine's observations. packages/server turns them into log lines and metrics. */
export type DeliveryObserver = {
  /** Called when an attempt has ended, before it is committed. */
  attempted(attempt: AttemptObservation): void;
  /** Called with the number of attempts whose lease had expired before they were written. Another node delivers them again. */
  leasesLost(count: number): void;
  /** Called when a batch could not be claimed or settled. The engine tries again. */
  failed(what: "claim" | "settle" | "release" | "health" | "expire", error: unknown): void;
};
