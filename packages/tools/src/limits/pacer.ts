import type { Clock, NodeId } from "@svc/core";
import { type LimiterKey, readCallPaces, writeCallPaces } from "@svc/db/call-limits/paces";
import type { Database } from "@svc/db/connect";
import { admit, fullUntil, hasRoom, type LimiterRound, latestOf, pollMs, type WaitingCall } from "./limiter-round.ts";
import { countsPlaces, type Limiter, Limiters, noteHeld, type RuledKey, stepOf } from "./limiters.ts";
import { expiryOf, leaseMs, paceWith, roomOf, waitingSaidMs } from "./pace.ts";

/**
 * Outcome of a request to start a call. `entered`: the call may start; call `leave` when it ends, and `again` to ask if it may be sent once
 * more. `full`: the limit `by` does not allow the call; it may try again after `retryAfterMs`.
 */
export type EntryOutcome =
  | { readonly kind: "entered"; leave(): void; again(): Promise<boolean> }
  | { readonly kind: "full"; readonly by: LimiterKey; readonly isPaused: boolean; readonly retryAfterMs: number };

/**
 * A request to start a call. `waitMs`: maximum time in milliseconds for which the call waits for its call limits. `jobId`: the job that
 * makes the call; undefined if no job makes it.
 */
export type EntryRequest = { readonly waitMs: number; readonly jobId: string | undefined };

/** A tool call that waits until its call limit allows it, and the callbacks for its outcome. */
type Waiter = WaitingCall & {
  /**
   * Time since which the call waits. The call that has waited longest comes first. For a call of a job, it is the time since which the job
   * waits.
   */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly jobId: string | undefined;
  readonly resolve: (entering: EntryOutcome) => void;
  readonly reject: (error: unknown) => void;
};

/** Maximum number of calls of this node that wait for one limiter. */
const waitingMax = 64;
/**
 * Milliseconds after which a refused call may try again, if the exact time is unknown. `held`, `job`: the call limit is full. `paused`,
 * `pausedJob`: the call limit is paused, so it allows no calls. `job` and `pausedJob` are for calls of jobs.
 */
const retryMs = { held: 1_000, paused: 30_000, job: 100, pausedJob: 2_000 };
/**
 * Milliseconds for which the call of a job keeps trying to start, from the time at which its limit should allow the call. With only one
 * try, other calls could take each free slot before it, so that the job would never continue.
 */
const jobPatienceMs = 100;
/**
 * Interval in milliseconds at which this node renews its slots. A slot is the permission to run one call of a limited account. A lease is
 * here the time after which an unrenewed slot becomes free. The interval is a third of the lease.
 */
const renewMs = leaseMs / 3;
const failurePauseMs = 1_000;

/**
 * Starts tool calls in order of arrival, as soon as their call limits allow. All nodes count together, in one database row for each limit.
 */
export class Pacer {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #node: NodeId;
  readonly #limiters = new Limiters((limiter) => this.#changed.has(limiter));
  readonly #waiters = new Set<Waiter>();
  /**
   * Limiters (call limits of one account) whose changes on this node are not yet in the database. The changes are slots that calls took or
   * returned.
   */
  readonly #changed = new Set<Limiter>();
  readonly #holding = new Set<Limiter>();
  #revisions = 0;
  #running: Promise<void> | undefined;
  #pause = new AbortController();
  #isClosed = false;

  constructor({ db, clock, nodeId }: { readonly db: Database; readonly clock: Clock; readonly nodeId: NodeId }) {
    this.#db = db;
    this.#clock = clock;
    this.#node = nodeId;
  }

  /**
   * Waits until all limits of a call allow the call to start, and resolves with the outcome. `keys`: one key for each limit, which
   * identifies the limit's counter. Rejects if the database is unavailable.
   */
  enter(keys: readonly RuledKey[], asker: EntryRequest): Promise<EntryOutcome> {
    const nowMs = this.#clock.now();
    return this.#ask(
      keys.map((key) => this.#limiters.of(key, nowMs)),
      { ...asker, holds: true },
    );
  }

  /** Stops accepting calls. Writes changes of the limits to the database, if it is available. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#changed.size > 0) this.#wake();
    this.#pause.abort("woken");
    await this.#running;
  }

  #ask(
    limiters: readonly Limiter[],
    { waitMs, jobId, holds }: EntryRequest & { readonly holds: boolean },
  ): Promise<EntryOutcome> {
    const nowMs = this.#clock.now();
    const due = jobId === undefined ? [] : limiters.filter(({ bookings }) => bookings.isDue(jobId, nowMs));
    const isDue = due.length > 0;
    const patienceMs = isDue ? Math.max(waitMs, jobPatienceMs) : waitMs;
    const untilMs = nowMs + patienceMs;
    const isPatient = patienceMs > 0;
    const refusing = limiters.find(
      ({ rules, fullUntilMs, waiting }) =>
        rules.isPaused || fullUntilMs > untilMs || (isPatient && waiting >= waitingMax),
    );
    if (refusing !== undefined) return Promise.resolve(this.#refusal(refusing, nowMs, { jobId, sinceMs: nowMs }));
    const claimed = due.flatMap(({ bookings }) => bookings.claim(jobId ?? "") ?? []);
    const sinceMs = Math.min(nowMs, ...claimed);
    return new Promise((resolve, reject) => {
      for (const limiter of limiters) limiter.waiting++;
      this.#waiters.add({ limiters, holds, isPatient, sinceMs, untilMs, jobId, resolve, reject });
      this.#wake();
    });
  }

  #refusal(
    limiter: Limiter,
    nowMs: number,
    { jobId, sinceMs }: { readonly jobId: string | undefined; readonly sinceMs: number },
  ): EntryOutcome {
    const { key: by, rules, fullUntilMs, bookings } = limiter;
    const { isPaused, concurrency } = rules;
    if (jobId === undefined) {
      const usualMs = isPaused ? retryMs.paused : concurrency > 0 ? retryMs.held : 0;
      return { kind: "full", by, isPaused, retryAfterMs: Math.max(usualMs, fullUntilMs - nowMs) };
    }
    const earliestMs = Math.max(fullUntilMs, nowMs + (isPaused ? retryMs.pausedJob : retryMs.job));
    const atMs = bookings.book(jobId, { nowMs, earliestMs, stepMs: stepOf(limiter), sinceMs });
    return { kind: "full", by, isPaused, retryAfterMs: atMs - nowMs };
  }

  #wake(): void {
    this.#pause.abort("woken");
    this.#running ??= new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.#run())
      .finally(() => {
        this.#running = undefined;
        if (this.#waiters.size > 0) this.#wake();
      });
  }

  async #run(): Promise<void> {
    for (;;) {
      this.#pause = new AbortController();
      const { signal } = this.#pause;
      const isDone = await this.#round();
      const waitMs = isDone ? this.#restMs() : failurePauseMs;
      if (waitMs === undefined || this.#isClosed) return;
      if (waitMs > 0) await this.#clock.wait(waitMs, signal);
    }
  }

  /**
   * Returns the time in milliseconds until this object must check again which calls may start under their call limits. Undefined if no call
   * waits or counts as running for a call limit.
   */
  #restMs(): number | undefined {
    if (this.#changed.size > 0) return 0;
    const nowMs = this.#clock.now();
    const dues = [...this.#waiters].map(({ limiters, untilMs }) => Math.min(untilMs, latestOf(limiters)));
    for (const limiter of this.#holding) if (countsPlaces(limiter)) dues.push(limiter.reported.atMs + renewMs);
    return dues.length === 0 ? undefined : Math.max(0, dues.reduce((a, b) => Math.min(a, b)) - nowMs);
  }

  /** Starts the calls that may start, and writes the changes to the database. Returns false if the database is unavailable. */
  async #round(): Promise<boolean> {
    const nowMs = this.#clock.now();
    const ready = [...this.#waiters]
      .filter(({ limiters, untilMs }) => latestOf(limiters) <= nowMs || untilMs <= nowMs)
      .sort((a, b) => a.sinceMs - b.sinceMs);
    const renewed = [...this.#holding].filter(
      (limiter) => countsPlaces(limiter) && limiter.reported.atMs + renewMs <= nowMs,
    );
    const limiters = new Set([...ready.flatMap((waiter) => waiter.limiters), ...this.#changed, ...renewed]);
    let admitted: readonly Waiter[] = [];
    try {
      await this.#read(limiters, nowMs);
      const turns = new Map([...limiters].map((limiter) => [limiter, this.#roundOf(limiter, nowMs)]));
      admitted = ready.filter((waiter) => admit(waiter, turns));
      const lost = await this.#write([...turns.values()], nowMs);
      this.#settle({ ready, admitted: new Set(admitted), turns, lost, nowMs });
      return true;
    } catch (error) {
      for (const limiter of limiters) limiter.known = undefined;
      for (const waiter of admitted) this.#takeBack(waiter);
      for (const waiter of ready) this.#end(waiter, () => waiter.reject(error));
      return false;
    }
  }

  /**
   * Reads the state of limiters from the database if this node does not know it yet. A limiter counts the calls under one call limit. Full
   * limiters are read again, because other nodes may have ended calls.
   */
  async #read(limiters: Iterable<Limiter>, nowMs: number): Promise<void> {
    const unread = [...limiters].filter((limiter) => {
      const { known, waiting, held, rules } = limiter;
      if (known === undefined) return true;
      if (known.atMs + pollMs > nowMs) return false;
      const room = roomOf(known.pace, rules, { node: this.#node, held, nowMs });
      return Math.min(room.places, room.starts) < waiting;
    });
    if (unread.length === 0) return;
    const rows = await readCallPaces(
      this.#db,
      unread.map(({ key }) => key),
    );
    for (const [index, limiter] of unread.entries()) {
      const row = rows[index];
      limiter.known = { pace: row?.pace, revision: row?.revision ?? "", atMs: nowMs };
    }
  }

  #roundOf(limiter: Limiter, nowMs: number): LimiterRound {
    const { known, rules, held } = limiter;
    return { limiter, room: roomOf(known?.pace, rules, { node: this.#node, held, nowMs }), began: 0, wanted: 0 };
  }

  /**
   * Writes the changed limiters (state of one call limit for one account or value) to the database. Returns the limiters that another node
   * changed in the meantime.
   */
  async #write(turns: readonly LimiterRound[], nowMs: number): Promise<ReadonlySet<Limiter>> {
    const due = turns.filter(({ limiter, began, wanted }) => {
      const { reported } = limiter;
      const isReported = wanted === reported.wanted && (wanted === 0 || reported.atMs + waitingSaidMs / 2 > nowMs);
      const isKept = limiter.held === 0 || !countsPlaces(limiter) || reported.atMs + renewMs > nowMs;
      return began > 0 || this.#changed.has(limiter) || !isReported || !isKept;
    });
    if (due.length === 0) return new Set();
    const writes = due.map(({ limiter, began, wanted }) => {
      const { key, known, rules, held } = limiter;
      const pace = paceWith(known?.pace, rules, { node: this.#node, nowMs, began, held, wanted });
      const revision = `${this.#node}/${++this.#revisions}`;
      const row = { ...key, pace, revision, madeFrom: known?.revision ?? "", expiresAt: expiryOf(pace) };
      return { limiter, wanted, row };
    });
    // The limiters in this write are no longer marked as changed. If one of them releases slots during the write, it is marked again, and
    // the next write stores that change.
    const reported = new Set(due.map(({ limiter }) => limiter).filter((limiter) => this.#changed.delete(limiter)));
    const written = await writeCallPaces(
      this.#db,
      writes.map(({ row }) => row),
    ).catch((error: unknown) => {
      for (const limiter of reported) this.#changed.add(limiter);
      throw error;
    });
    const lost = new Set<Limiter>();
    // If the write took too long, the calls of this round must not start. Either the node's lease on the limiter is about to expire, or the
    // starts would count for the wrong period.
    const isLate = this.#clock.now() - nowMs > renewMs;
    for (const { limiter, wanted, row } of writes) {
      if (isLate) lost.add(limiter);
      if (written.has(row.revision)) {
        limiter.known = { pace: row.pace, revision: row.revision, atMs: nowMs };
        limiter.reported = { wanted, atMs: nowMs };
        continue;
      }
      limiter.known = undefined;
      lost.add(limiter);
      if (reported.has(limiter)) this.#changed.add(limiter);
    }
    return lost;
  }

  /**
   * Tells waiting calls that they may start, or that they are refused. A call keeps waiting if another node changed one of its limits
   * meanwhile.
   */
  #settle(round: {
    readonly ready: readonly Waiter[];
    readonly admitted: ReadonlySet<Waiter>;
    readonly turns: ReadonlyMap<Limiter, LimiterRound>;
    readonly lost: ReadonlySet<Limiter>;
    readonly nowMs: number;
  }): void {
    const { ready, admitted, turns, lost, nowMs } = round;
    for (const waiter of ready) {
      const { limiters, holds, untilMs } = waiter;
      if (admitted.has(waiter)) {
        if (limiters.some((limiter) => lost.has(limiter))) this.#takeBack(waiter);
        else this.#end(waiter, () => waiter.resolve(this.#entered(waiter, nowMs)));
        continue;
      }
      const missing = limiters.find((limiter) => !hasRoom(turns.get(limiter), holds));
      // Another node has changed this limiter's row in the database, so the state in memory is outdated. The next round reads the row
      // again, and the call keeps waiting until then.
      if (missing === undefined || lost.has(missing)) continue;
      missing.fullUntilMs = fullUntil(missing, nowMs);
      if (untilMs <= nowMs || missing.fullUntilMs > untilMs) {
        this.#end(waiter, () => waiter.resolve(this.#refusal(missing, nowMs, waiter)));
      }
    }
  }

  #end(waiter: Waiter, settle: () => void): void {
    if (!this.#waiters.delete(waiter)) return;
    for (const limiter of waiter.limiters) {
      limiter.waiting--;
      // No call of this node waits for the limiter any more. The limiter is marked as changed, so that this is written to the database. The
      // other nodes then need not leave a part of the limit free for this node.
      if (limiter.waiting === 0 && limiter.reported.wanted > 0) this.#changed.add(limiter);
      if (waiter.holds && limiter.held > 0) this.#holding.add(limiter);
    }
    settle();
  }

  #entered(waiter: Waiter, sinceMs: number): EntryOutcome {
    const { limiters, jobId } = waiter;
    let isHeld = waiter.holds;
    if (jobId !== undefined) for (const { bookings } of limiters) bookings.end(jobId);
    return {
      kind: "entered",
      leave: () => {
        if (!isHeld) return;
        isHeld = false;
        for (const limiter of limiters) noteHeld(limiter, this.#clock.now() - sinceMs);
        this.#takeBack(waiter);
        if (this.#changed.size > 0) this.#wake();
      },
      again: async () => {
        const rated = limiters.filter(({ rules }) => rules.rate !== undefined);
        if (rated.length === 0) return true;
        return (await this.#ask(rated, { waitMs: 0, jobId: undefined, holds: false })).kind === "entered";
      },
    };
  }

  /**
   * Releases the slots that were reserved for a call, because the call was not admitted. If the database already counts these slots, the
   * release must be written to the database.
   */
  #takeBack({ limiters, holds }: Waiter): void {
    if (!holds) return;
    for (const limiter of limiters) {
      limiter.held--;
      if (limiter.held === 0) this.#holding.delete(limiter);
      if (!countsPlaces(limiter)) continue;
      this.#changed.add(limiter);
      limiter.fullUntilMs = 0;
    }
  }
}
