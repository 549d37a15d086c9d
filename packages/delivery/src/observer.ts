import type { DeliveryId, ProjectId, SubscriptionId } from "@svc/core";

/** One attempt as it went, for logs and metrics. */
export type AttemptObservation = {
  deliveryId: DeliveryId;
  projectId: ProjectId;
  subscriptionId: SubscriptionId;
  /** Number of the attempt, from 1. */
  number: number;
  /** What became of the delivery. */
  state: "pending" | "delivered" | "dead_letter";
  /** 0 when no answer came. */
  statusCode: number;
  /** Empty when delivered; else begins with a code. */
  error: string;
  durationMs: number;
  /** From the event's receipt to the end of this attempt. */
  sinceReceivedMs: number;
};

/** Who watches the delivery engine; packages/server turns it into log lines and metrics. */
export type DeliveryObserver = {
  /** An attempt ended; it is not committed yet. */
  attempted(attempt: AttemptObservation): void;
  /** Attempts whose lease had run out when they were to be written: somebody else delivers them again. */
  leasesLost(count: number): void;
  /** A batch could not be claimed or settled; the engine goes on trying. */
  failed(what: "claim" | "settle" | "release" | "health" | "expire", error: unknown): void;
};
