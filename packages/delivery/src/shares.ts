import type { ProjectId } from "@svc/core";
import type { Lane } from "./lanes.ts";
import type { ResolvedLimits } from "./limits.ts";
import type { OutgoingDelivery } from "./outgoing.ts";

type Bounds = Pick<ResolvedLimits, "inFlightMax" | "heldMax" | "heldBytesMax">;

/** What one project uses of a node: `unsent` are in flight or wait, `held` counts those being recorded or given back as well. */
type Usage = { inFlight: number; unsent: number; held: number; bytes: number };

const unused: Usage = { inFlight: 0, unsent: 0, held: 0, bytes: 0 };

/**
 * What each project may use of a node: with n projects active, the (n + 1)th part of every bound, at least one. So a lone
 * project gets half, and there is room for a newcomer however slow the endpoints of the others are. A project is active
 * while it has attempts in flight or deliveries waiting. What is above its share waits, and freed turns go round robin
 * over the projects that wait for one, and then over the lanes of that project.
 */
export class Shares {
  readonly #bounds: Bounds;
  readonly #projects = new Map<ProjectId, Usage>();
  /** Lanes that wait only because their project or the node has no turn free; both in the order in which they are served. */
  readonly #starved = new Map<ProjectId, Set<Lane>>();
  #active = 0;
  /** Attempts in flight on the node. */
  inFlight = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Counts a delivery taken on. */
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

  /** A delivery taken on is neither in flight any more, nor waiting. */
  finish(projectId: ProjectId): void {
    const usage = this.#projects.get(projectId);
    if (usage !== undefined && --usage.unsent === 0) this.#active--;
  }

  /** A finished delivery is held no more. */
  letGo({ projectId, body }: OutgoingDelivery): void {
    const usage = this.#projects.get(projectId);
    if (usage === undefined) return;
    usage.bytes -= body.byteLength;
    if (--usage.held === 0) this.#projects.delete(projectId);
  }

  /** An attempt begins. */
  begin(projectId: ProjectId): void {
    this.inFlight++;
    const usage = this.#projects.get(projectId);
    if (usage !== undefined) usage.inFlight++;
  }

  /** An attempt has ended. */
  end(projectId: ProjectId): void {
    this.inFlight--;
    const usage = this.#projects.get(projectId);
    if (usage !== undefined) usage.inFlight--;
  }

  /** True if an attempt of the project may begin now. */
  hasTurn(projectId: ProjectId, behind = false): boolean {
    const { inFlightMax } = this.#bounds;
    const usage = this.#projects.get(projectId) ?? unused;
    const isFree = this.inFlight < partOf(inFlightMax, behind);
    return isFree && usage.inFlight < this.#share(inFlightMax, usage, behind);
  }

  /** Deliveries of the project that can be taken on; 0 while it uses its share, or has live ones that wait for a turn. */
  room(projectId: ProjectId, behind = false): number {
    if (!behind && this.#starved.has(projectId)) return 0;
    const { inFlightMax, heldMax, heldBytesMax } = this.#bounds;
    const usage = this.#projects.get(projectId) ?? unused;
    const isAtShare =
      usage.inFlight >= this.#share(inFlightMax, usage, behind) ||
      usage.bytes >= this.#share(heldBytesMax, usage, behind);
    return isAtShare ? 0 : Math.max(0, this.#share(heldMax, usage, behind) - usage.held);
  }

  /** True if the project takes nothing on now. */
  isFull(projectId: ProjectId, behind = false): boolean {
    return this.room(projectId, behind) === 0;
  }

  /** The projects that take nothing on now. */
  fullProjects(behind = false): Set<ProjectId> {
    return new Set([...this.#projects.keys()].filter((id) => this.isFull(id, behind)));
  }

  /** Has a lane wait for its turn, behind the others of its project; nothing when it has nothing to send. */
  starve(lane: Lane): void {
    if (lane.live.waiting.length === 0) return;
    const lanes = this.#starved.get(lane.projectId);
    if (lanes === undefined) this.#starved.set(lane.projectId, new Set([lane]));
    else lanes.add(lane);
  }

  /** A lane waits for a turn no more. */
  unstarve(lane: Lane): void {
    const lanes = this.#starved.get(lane.projectId);
    if (lanes?.delete(lane) && lanes.size === 0) this.#starved.delete(lane.projectId);
  }

  /** Whether any lane waits for a turn. */
  hasStarved(): boolean {
    return this.#starved.size > 0;
  }

  /** Takes out the lane whose turn it is, if there is a turn free for any. */
  nextStarved(): Lane | undefined {
    if (this.inFlight >= this.#bounds.inFlightMax) return undefined;
    for (const [projectId, lanes] of this.#starved) {
      if (!this.hasTurn(projectId)) continue;
      const [lane] = lanes;
      this.#starved.delete(projectId);
      if (lane === undefined) continue;
      lanes.delete(lane);
      if (lanes.size > 0) this.#starved.set(projectId, lanes);
      return lane;
    }
    return undefined;
  }

  #share(bound: number, usage: Usage, behind: boolean): number {
    const active = this.#active + (usage.unsent === 0 ? 1 : 0);
    return partOf(Math.max(1, Math.floor(bound / (active + 1))), behind);
  }
}

/** What paced replays queued may use half of each bound: the other half is for what is live. */
function partOf(bound: number, behind: boolean): number {
  return behind ? Math.max(1, Math.floor(bound / 2)) : bound;
}

/** What a node holds: every delivery from when it is taken on until it is recorded or given back. Bounded in number and bytes. */
export class Holdings {
  readonly #limits: Pick<ResolvedLimits, "heldMax" | "heldBytesMax">;
  #bytes = 0;
  #whenEmpty: (() => void)[] = [];
  /** Deliveries held. */
  count = 0;

  constructor(limits: Pick<ResolvedLimits, "heldMax" | "heldBytesMax">) {
    this.#limits = limits;
  }

  /** Deliveries that can still be taken on; what paced replays queued (`behind`) may fill half of what a node holds. */
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

  /** Resolves once nothing is held. */
  empty(): Promise<void> {
    if (this.count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenEmpty.push(resolve);
    });
  }
}
