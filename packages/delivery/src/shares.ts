import type { ProjectId } from "@svc/core";
import type { EndpointQueue } from "./endpoint-queues.ts";
import type { ResolvedLimits } from "./limits.ts";
import type { OutgoingDelivery } from "./outgoing.ts";

type Bounds = Pick<ResolvedLimits, "inFlightMax" | "heldMax" | "heldBytesMax">;

/**
 * Deliveries that one project has on a node. `inFlight`: deliveries that are being sent. `unsent`: deliveries that are being sent or wait.
 * `held`: all deliveries, including those whose results are being stored, and those that are being returned to the queue. `bytes`: size of
 * the bodies of all held deliveries.
 */
type Usage = { inFlight: number; unsent: number; held: number; bytes: number };

const unused: Usage = { inFlight: 0, unsent: 0, held: 0, bytes: 0 };

/**
 * Divides a node's limits among its projects. Each of n active projects may use 1/(n + 1) of every limit. So a new project finds free
 * capacity at once.
 * - A project is active while it has deliveries in flight or waiting. Work above the share waits.
 * - Free slots for attempts go to the waiting projects in rotation, and within a project to its queues in rotation.
 */
export class Shares {
  readonly #bounds: Bounds;
  readonly #projects = new Map<ProjectId, Usage>();
  /**
   * Queues with waiting deliveries that the endpoint could take now. They wait because their project or the node is sending its maximum
   * number of deliveries. The first project, and its first queue, gets the next free turn (slot for an attempt).
   */
  readonly #starved = new Map<ProjectId, Set<EndpointQueue>>();
  #active = 0;
  /** Attempts in flight on the node. */
  inFlight = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Adds a delivery that this node has taken to the usage of its project. */
  take({ projectId, body }: OutgoingDelivery): void {
    let usage = this.#projects.get(projectId);
    if (usage === undefined) {
      usage = { ...unused };
      this.#projects.set(projectId, usage);
    }
    if (usage.unsent++ === 0) this.#active++;
    usage.held++;
    usage.bytes += body.byteLength;
  }

  /**
   * Records that one delivery of the project no longer waits and is no longer being sent. The result of the delivery may not be stored yet.
   */
  finish(projectId: ProjectId): void {
    const usage = this.#projects.get(projectId);
    if (usage !== undefined && --usage.unsent === 0) this.#active--;
  }

  /** Removes a delivery from the usage of its project, because its result is stored or it was returned to the queue. */
  letGo({ projectId, body }: OutgoingDelivery): void {
    const usage = this.#projects.get(projectId);
    if (usage === undefined) return;
    usage.bytes -= body.byteLength;
    if (--usage.held === 0) this.#projects.delete(projectId);
  }

  /** Counts one more attempt in flight for the project, because an attempt begins. */
  begin(projectId: ProjectId): void {
    this.inFlight++;
    const usage = this.#projects.get(projectId);
    if (usage !== undefined) usage.inFlight++;
  }

  /** Counts one attempt in flight less for the project, because an attempt has ended. */
  end(projectId: ProjectId): void {
    this.inFlight--;
    const usage = this.#projects.get(projectId);
    if (usage !== undefined) usage.inFlight--;
  }

  /**
   * True if an attempt of the project may begin now. False if the node or the project has reached its limit. `behind`: true for throttled
   * replays.
   */
  hasTurn(projectId: ProjectId, behind = false): boolean {
    const { inFlightMax } = this.#bounds;
    const usage = this.#projects.get(projectId) ?? unused;
    const isFree = this.inFlight < partOf(inFlightMax, behind);
    return isFree && usage.inFlight < this.#share(inFlightMax, usage, behind);
  }

  /** Returns how many more deliveries of the project this node can take. `behind`: true for deliveries of throttled replays. */
  room(projectId: ProjectId, behind = false): number {
    if (!behind && this.#starved.has(projectId)) return 0;
    const { inFlightMax, heldMax, heldBytesMax } = this.#bounds;
    const usage = this.#projects.get(projectId) ?? unused;
    const isAtShare =
      usage.inFlight >= this.#share(inFlightMax, usage, behind) ||
      usage.bytes >= this.#share(heldBytesMax, usage, behind);
    return isAtShare ? 0 : Math.max(0, this.#share(heldMax, usage, behind) - usage.held);
  }

  /**
   * True if this node can take no delivery of the project now. `behind`: true for deliveries of throttled replays, false for all other
   * deliveries.
   */
  isFull(projectId: ProjectId, behind = false): boolean {
    return this.room(projectId, behind) === 0;
  }

  /**
   * Returns the projects to which no further delivery can be added now. `behind`: true for deliveries of throttled replays, false for all
   * other deliveries.
   */
  fullProjects(behind = false): Set<ProjectId> {
    return new Set([...this.#projects.keys()].filter((id) => this.isFull(id, behind)));
  }

  /** Adds a queue to the queues of its project that wait for a turn to send. Does nothing if the queue has nothing to send. */
  starve(queue: EndpointQueue): void {
    if (queue.live.waiting.length === 0) return;
    const queues = this.#starved.get(queue.projectId);
    if (queues === undefined) this.#starved.set(queue.projectId, new Set([queue]));
    else queues.add(queue);
  }

  /** Removes a queue from the queues of its project that wait for a free turn (slot for an attempt). */
  unstarve(queue: EndpointQueue): void {
    const queues = this.#starved.get(queue.projectId);
    if (queues?.delete(queue) && queues.size === 0) this.#starved.delete(queue.projectId);
  }

  /** True if any queue waits for a turn (slot for an attempt). */
  hasStarved(): boolean {
    return this.#starved.size > 0;
  }

  /**
   * Removes and returns the endpoint queue that may send the next delivery, because a slot (right to send one delivery) is free. Returns
   * undefined if no slot is free or no queue waits.
   */
  nextStarved(): EndpointQueue | undefined {
    if (this.inFlight >= this.#bounds.inFlightMax) return undefined;
    for (const [projectId, queues] of this.#starved) {
      if (!this.hasTurn(projectId)) continue;
      const [queue] = queues;
      this.#starved.delete(projectId);
      if (queue === undefined) continue;
      queues.delete(queue);
      if (queues.size > 0) this.#starved.set(projectId, queues);
      return queue;
    }
    return undefined;
  }

  #share(bound: number, usage: Usage, behind: boolean): number {
    const active = this.#active + (usage.unsent === 0 ? 1 : 0);
    return partOf(Math.max(1, Math.floor(bound / (active + 1))), behind);
  }
}

/** Returns the part of a limit that deliveries may use: half of it for throttled replays (`behind`), or all of it for live deliveries. */
function partOf(bound: number, behind: boolean): number {
  return behind ? Math.max(1, Math.floor(bound / 2)) : bound;
}

/**
 * The deliveries that a node has in memory, from the time it takes them from the database until it records their result or returns them.
 * Their number and their bytes are limited.
 */
export class Holdings {
  readonly #limits: Pick<ResolvedLimits, "heldMax" | "heldBytesMax">;
  #bytes = 0;
  #whenEmpty: (() => void)[] = [];
  /** Number of deliveries that this node has claimed and not yet recorded or returned. */
  count = 0;

  constructor(limits: Pick<ResolvedLimits, "heldMax" | "heldBytesMax">) {
    this.#limits = limits;
  }

  /**
   * Returns how many further deliveries the node can take. `behind`: true for deliveries of throttled replays (they deliver events again
   * slowly), which may fill only half of the node's limit.
   */
  free(behind = false): number {
    const { heldMax, heldBytesMax } = this.#limits;
    if (this.#bytes >= heldBytesMax) return 0;
    return Math.max(0, heldMax - (behind ? Math.floor(heldMax / 2) : 0) - this.count);
  }

  take(delivery: OutgoingDelivery): void {
    this.count++;
    this.#bytes += delivery.body.byteLength;
  }

  letGo(delivery: OutgoingDelivery): void {
    this.count--;
    this.#bytes -= delivery.body.byteLength;
    if (this.count === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  /** Resolves when the node holds no delivery any more. */
  empty(): Promise<void> {
    if (this.count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenEmpty.push(resolve);
    });
  }
}
