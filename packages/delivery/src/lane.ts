import type { ProjectId, SubscriptionId } from "@svc/core";
import type { OutgoingDelivery } from "./outgoing.ts";

/** How far ahead of its endpoint a lane may hold leases: this much work, by the endpoint's own speed. */
const queuedMsMax = 2_000;
const queuedFactorMax = 32;
/** Weight of the newest attempt in the running mean of an endpoint's answer time. */
const newestWeight = 0.1;
/** Of the attempts in flight to an endpoint, what replays queued may make up so much: a live delivery finds one free. */
const behindPart = 0.75;

/**
 * What one node holds for one subscription: attempts in flight, leases waiting for a turn, and what it knows of the
 * endpoint. A lane is open, or failing: then it takes no leases, and only a probe claimed from the store goes out.
 */
export class Lane {
  readonly subscriptionId: SubscriptionId;
  readonly projectId: ProjectId;
  readonly waiting: OutgoingDelivery[] = [];
  /** What paced replays queued: sent where nothing live waits, on a part of the turns. */
  readonly behind: OutgoingDelivery[] = [];
  inFlight = 0;
  /** Those of `behind` among the attempts in flight. */
  behindInFlight = 0;
  isFailing = false;
  /** Failures that the store does not know of yet: until it does, what it says of the endpoint is old. */
  unreportedFailures = 0;
  /** A failing lane believes itself well again when nothing more was heard of it until then. */
  doubtUntilMs = 0;
  lastUsedMs = 0;
  /** Leases grew old waiting here: until an attempt is quick again it takes no more than it has turns free. */
  wasLate = false;
  #meanMs: number | undefined;

  constructor(subscriptionId: SubscriptionId, projectId: ProjectId) {
    this.subscriptionId = subscriptionId;
    this.projectId = projectId;
  }

  /** Leases it can take on now: free turns, and as many more as a fast endpoint works off within two seconds. */
  room(concurrency: number, nowMs: number): number {
    if (this.isShut(nowMs)) return 0;
    const ahead = this.wasLate ? 0 : Math.floor(concurrency * this.#aheadFactor());
    return Math.max(0, concurrency + ahead - (this.inFlight - this.behindInFlight) - this.waiting.length);
  }

  /** The same of what paced replays queued: it takes no room from what is live. */
  behindRoom(concurrency: number, nowMs: number): number {
    if (this.isShut(nowMs)) return 0;
    const turns = behindTurns(concurrency);
    return Math.max(0, turns + Math.floor(turns * this.#aheadFactor()) - this.behindInFlight - this.behind.length);
  }

  /** Whether a delivery of a paced replay may be sent. */
  hasBehindTurn(concurrency: number): boolean {
    const isFree = this.waiting.length === 0 && this.inFlight < concurrency;
    return isFree && this.behind.length > 0 && this.behindInFlight < behindTurns(concurrency);
  }

  /** Where a delivery waits for its turn. */
  queueOf(delivery: OutgoingDelivery): OutgoingDelivery[] {
    return delivery.behind ? this.behind : this.waiting;
  }

  /** Takes out all that waits. */
  takeWaiting(): OutgoingDelivery[] {
    return [...this.waiting.splice(0), ...this.behind.splice(0)];
  }

  #aheadFactor(): number {
    return this.#meanMs === undefined ? 1 : Math.min(queuedMsMax / Math.max(this.#meanMs, 1), queuedFactorMax);
  }

  /** Whether it takes nothing but a probe. */
  isShut(nowMs: number): boolean {
    return this.isFailing && nowMs < this.doubtUntilMs;
  }

  /** Notes how long an answer took. */
  observe(durationMs: number): void {
    if (durationMs <= queuedMsMax) this.wasLate = false;
    this.#meanMs = this.#meanMs === undefined ? durationMs : this.#meanMs + newestWeight * (durationMs - this.#meanMs);
  }

  /** Closes the lane and hands out what waits in it. */
  fail(doubtUntilMs: number): OutgoingDelivery[] {
    this.isFailing = true;
    this.doubtUntilMs = doubtUntilMs;
    return this.takeWaiting();
  }

  recover(): void {
    this.isFailing = false;
  }

  isIdle(): boolean {
    return this.inFlight === 0 && this.waiting.length === 0 && this.behind.length === 0;
  }
}

/** Attempts to an endpoint that what paced replays queued may have in flight. */
export function behindTurns(concurrency: number): number {
  return Math.max(1, Math.floor(concurrency * behindPart));
}
