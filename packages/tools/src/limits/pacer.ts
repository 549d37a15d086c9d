import type { Clock, NodeId } from "@svc/core";
import { type LimiterKey, readCallPaces, writeCallPaces } from "@svc/db/call-limits/paces";
import type { Database } from "@svc/db/connect";
import { countsPlaces, type LimitLane, LimitLanes, noteHeld, type PacedKey, stepOf } from "./lanes.ts";
import { expiryOf, leaseMs, paceWith, roomOf, waitingSaidMs } from "./pace.ts";
import { admit, fullUntil, hasRoom, latestOf, pollMs, type Turn, type Waiting } from "./turn.ts";

/**
 * What came of asking. `entered`: the call may go, and says when it has ended; `again` asks whether it may be sent once more.
 * `full`: it may not, for the limit named; what waits longer may ask again then.
 */
export type Entering =
  | { readonly kind: "entered"; leave(): void; again(): Promise<boolean> }
  | { readonly kind: "full"; readonly by: LimiterKey; readonly isPaused: boolean; readonly retryAfterMs: number };

/** Who asks: how long it waits, and the job that comes back later, where it is one that asks. */
export type Asker = { readonly waitMs: number; readonly jobId: string | undefined };

/** A call that waits, and who is told. */
type Waiter = Waiting & {
  /** Who has waited for longest goes first: a job, since it was first refused. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly jobId: string | undefined;
  readonly resolve: (entering: Entering) => void;
  readonly reject: (error: unknown) => void;
};

/** Calls that wait in one lane on this node. */
const waitingMax = 64;
/** How long who is refused is told to wait, where nobody knows better. */
const retryMs = { held: 1_000, paused: 30_000, job: 100, pausedJob: 2_000 };
/** A job that comes back as it was told waits for its turn among the calls of others, so that none of them keeps it out. */
const jobPatienceMs = 100;
/** A place that is held for longer is told again, in good time before it would be given away. */
const renewMs = leaseMs / 3;
const failurePauseMs = 1_000;

/**
 * Lets calls begin, in the order in which they came, as their limits allow over all nodes. What the nodes share is a row for each
 * key: a round reads and writes those of all calls that wait, by comparing revisions, one statement each; what another node has
 * changed meanwhile is read and tried again.
 */
export class Pacer {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #node: NodeId;
  readonly #lanes = new LimitLanes((lane) => this.#changed.has(lane));
  readonly #waiters = new Set<Waiter>();
  /** Lanes whose places the store does not know of as they are. */
  readonly #changed = new Set<LimitLane>();
  readonly #holding = new Set<LimitLane>();
  #revisions = 0;
  #running: Promise<void> | undefined;
  #pause = new AbortController();
  #isClosed = false;

  constructor({ db, clock, nodeId }: { readonly db: Database; readonly clock: Clock; readonly nodeId: NodeId }) {
    this.#db = db;
    this.#clock = clock;
    this.#node = nodeId;
  }

  /** Asks for all keys at once, which are of different limits. Rejects when the store is away. */
  enter(keys: readonly PacedKey[], asker: Asker): Promise<Entering> {
    const nowMs = this.#clock.now();
    return this.#ask(
      keys.map((key) => this.#lanes.of(key, nowMs)),
      { ...asker, holds: true },
    );
  }

  /** Tells the store of the places that were given back, if it can be told. Nobody asks any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#changed.size > 0) this.#wake();
    this.#pause.abort("woken");
    await this.#running;
  }

  #ask(lanes: readonly LimitLane[], { waitMs, jobId, holds }: Asker & { readonly holds: boolean }): Promise<Entering> {
    const nowMs = this.#clock.now();
    const due = jobId === undefined ? [] : lanes.filter(({ bookings }) => bookings.isDue(jobId, nowMs));
    const isDue = due.length > 0;
    const patienceMs = isDue ? Math.max(waitMs, jobPatienceMs) : waitMs;
    const untilMs = nowMs + patienceMs;
    const isPatient = patienceMs > 0;
    const refusing = lanes.find(
      ({ rules, fullUntilMs, waiting }) =>
        rules.isPaused || fullUntilMs > untilMs || (isPatient && waiting >= waitingMax),
    );
    if (refusing !== undefined) return Promise.resolve(this.#refusal(refusing, nowMs, { jobId, sinceMs: nowMs }));
    const claimed = due.flatMap(({ bookings }) => bookings.claim(jobId ?? "") ?? []);
    const sinceMs = Math.min(nowMs, ...claimed);
    return new Promise((resolve, reject) => {
      for (const lane of lanes) lane.waiting++;
      this.#waiters.add({ lanes, holds, isPatient, sinceMs, untilMs, jobId, resolve, reject });
      this.#wake();
    });
  }

  #refusal(
    lane: LimitLane,
    nowMs: number,
    { jobId, sinceMs }: { readonly jobId: string | undefined; readonly sinceMs: number },
  ): Entering {
    const { key: by, rules, fullUntilMs, bookings } = lane;
    const { isPaused, concurrency } = rules;
    if (jobId === undefined) {
      const usualMs = isPaused ? retryMs.paused : concurrency > 0 ? retryMs.held : 0;
      return { kind: "full", by, isPaused, retryAfterMs: Math.max(usualMs, fullUntilMs - nowMs) };
    }
    const earliestMs = Math.max(fullUntilMs, nowMs + (isPaused ? retryMs.pausedJob : retryMs.job));
    const atMs = bookings.book(jobId, { nowMs, earliestMs, stepMs: stepOf(lane), sinceMs });
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

  /** How long nothing is to be done; undefined while nobody holds or wants anything. */
  #restMs(): number | undefined {
    if (this.#changed.size > 0) return 0;
    const nowMs = this.#clock.now();
    const dues = [...this.#waiters].map(({ lanes, untilMs }) => Math.min(untilMs, latestOf(lanes)));
    for (const lane of this.#holding) if (countsPlaces(lane)) dues.push(lane.told.atMs + renewMs);
    return dues.length === 0 ? undefined : Math.max(0, dues.reduce((a, b) => Math.min(a, b)) - nowMs);
  }

  /** Lets go what may, and tells the store what it does not know. False when the store is away. */
  async #round(): Promise<boolean> {
    const nowMs = this.#clock.now();
    const ready = [...this.#waiters]
      .filter(({ lanes, untilMs }) => latestOf(lanes) <= nowMs || untilMs <= nowMs)
      .sort((a, b) => a.sinceMs - b.sinceMs);
    const renewed = [...this.#holding].filter((lane) => countsPlaces(lane) && lane.told.atMs + renewMs <= nowMs);
    const lanes = new Set([...ready.flatMap((waiter) => waiter.lanes), ...this.#changed, ...renewed]);
    let admitted: readonly Waiter[] = [];
    try {
      await this.#read(lanes, nowMs);
      const turns = new Map([...lanes].map((lane) => [lane, this.#turnOf(lane, nowMs)]));
      admitted = ready.filter((waiter) => admit(waiter, turns));
      const lost = await this.#write([...turns.values()], nowMs);
      this.#settle({ ready, admitted: new Set(admitted), turns, lost, nowMs });
      return true;
    } catch (error) {
      for (const lane of lanes) lane.known = undefined;
      for (const waiter of admitted) this.#takeBack(waiter);
      for (const waiter of ready) this.#end(waiter, () => waiter.reject(error));
      return false;
    }
  }

  /** Reads what is not known, and what may have been freed elsewhere since it was known to be full. */
  async #read(lanes: Iterable<LimitLane>, nowMs: number): Promise<void> {
    const unread = [...lanes].filter((lane) => {
      const { known, waiting, held, rules } = lane;
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
    for (const [index, lane] of unread.entries()) {
      const row = rows[index];
      lane.known = { pace: row?.pace, revision: row?.revision ?? "", atMs: nowMs };
    }
  }

  #turnOf(lane: LimitLane, nowMs: number): Turn {
    const { known, rules, held } = lane;
    return { lane, room: roomOf(known?.pace, rules, { node: this.#node, held, nowMs }), began: 0, wanted: 0 };
  }

  /** Writes the lanes that have changed; answers with those that another node has changed meanwhile. */
  async #write(turns: readonly Turn[], nowMs: number): Promise<ReadonlySet<LimitLane>> {
    const due = turns.filter(({ lane, began, wanted }) => {
      const { told } = lane;
      const isSaid = wanted === told.wanted && (wanted === 0 || told.atMs + waitingSaidMs / 2 > nowMs);
      const isKept = lane.held === 0 || !countsPlaces(lane) || told.atMs + renewMs > nowMs;
      return began > 0 || this.#changed.has(lane) || !isSaid || !isKept;
    });
    if (due.length === 0) return new Set();
    const writes = due.map(({ lane, began, wanted }) => {
      const { key, known, rules, held } = lane;
      const pace = paceWith(known?.pace, rules, { node: this.#node, nowMs, began, held, wanted });
      const revision = `${this.#node}/${++this.#revisions}`;
      const row = { ...key, pace, revision, madeFrom: known?.revision ?? "", expiresAt: expiryOf(pace) };
      return { lane, wanted, row };
    });
    // What is left while the write is under way is told by the next one.
    const told = new Set(due.map(({ lane }) => lane).filter((lane) => this.#changed.delete(lane)));
    const written = await writeCallPaces(
      this.#db,
      writes.map(({ row }) => row),
    ).catch((error: unknown) => {
      for (const lane of told) this.#changed.add(lane);
      throw error;
    });
    const lost = new Set<LimitLane>();
    // What was let go so long ago is not let go any more: its lease runs out, or its rate has moved on.
    const isLate = this.#clock.now() - nowMs > renewMs;
    for (const { lane, wanted, row } of writes) {
      if (isLate) lost.add(lane);
      if (written.has(row.revision)) {
        lane.known = { pace: row.pace, revision: row.revision, atMs: nowMs };
        lane.told = { wanted, atMs: nowMs };
        continue;
      }
      lane.known = undefined;
      lost.add(lane);
      if (told.has(lane)) this.#changed.add(lane);
    }
    return lost;
  }

  /** Tells the calls what came of the round. Who was let go by a lane that another node has changed waits on. */
  #settle(round: {
    readonly ready: readonly Waiter[];
    readonly admitted: ReadonlySet<Waiter>;
    readonly turns: ReadonlyMap<LimitLane, Turn>;
    readonly lost: ReadonlySet<LimitLane>;
    readonly nowMs: number;
  }): void {
    const { ready, admitted, turns, lost, nowMs } = round;
    for (const waiter of ready) {
      const { lanes, holds, untilMs } = waiter;
      if (admitted.has(waiter)) {
        if (lanes.some((lane) => lost.has(lane))) this.#takeBack(waiter);
        else this.#end(waiter, () => waiter.resolve(this.#entered(waiter, nowMs)));
        continue;
      }
      const lacking = lanes.find((lane) => !hasRoom(turns.get(lane), holds));
      // What is known of a lane that was lost is old: it is looked at once more.
      if (lacking === undefined || lost.has(lacking)) continue;
      lacking.fullUntilMs = fullUntil(lacking, nowMs);
      if (untilMs <= nowMs || lacking.fullUntilMs > untilMs) {
        this.#end(waiter, () => waiter.resolve(this.#refusal(lacking, nowMs, waiter)));
      }
    }
  }

  #end(waiter: Waiter, settle: () => void): void {
    if (!this.#waiters.delete(waiter)) return;
    for (const lane of waiter.lanes) {
      lane.waiting--;
      // The last that waits has gone: other nodes need not hold back for it.
      if (lane.waiting === 0 && lane.told.wanted > 0) this.#changed.add(lane);
      if (waiter.holds && lane.held > 0) this.#holding.add(lane);
    }
    settle();
  }

  #entered(waiter: Waiter, sinceMs: number): Entering {
    const { lanes, jobId } = waiter;
    let isHeld = waiter.holds;
    if (jobId !== undefined) for (const { bookings } of lanes) bookings.end(jobId);
    return {
      kind: "entered",
      leave: () => {
        if (!isHeld) return;
        isHeld = false;
        for (const lane of lanes) noteHeld(lane, this.#clock.now() - sinceMs);
        this.#takeBack(waiter);
        if (this.#changed.size > 0) this.#wake();
      },
      again: async () => {
        const rated = lanes.filter(({ rules }) => rules.rate !== undefined);
        if (rated.length === 0) return true;
        return (await this.#ask(rated, { waitMs: 0, jobId: undefined, holds: false })).kind === "entered";
      },
    };
  }

  /** Gives the places of a call back; the store is told where it counts them. */
  #takeBack({ lanes, holds }: Waiter): void {
    if (!holds) return;
    for (const lane of lanes) {
      lane.held--;
      if (lane.held === 0) this.#holding.delete(lane);
      if (!countsPlaces(lane)) continue;
      this.#changed.add(lane);
      lane.fullUntilMs = 0;
    }
  }
}
