import type { Clock } from "@svc/core";

/**
 * The share of the memory budget to which the bytes of a request body are charged. Webhook posts use the share of their toolkit (app).
 * Calls use the share of their key's project, or of the administrator. Requests without a key use `keyless`. `lookup`: bytes that arrived
 * with the headers, while svc looks up the key.
 */
export type BodyShare = `toolkit:${string}` | `project:${string}` | "administrator" | "keyless" | "lookup";

/**
 * Kind of sender to whose share of the body budget the bytes of a request body are charged. Metrics use the kind as a label. `lookup`: the
 * sender is not known yet, because the key is being looked up.
 */
export type BodyShareKind = "toolkit" | "project" | "administrator" | "keyless" | "lookup";

/** Budget for the bytes of request bodies that a node has read and keeps in memory. */
export type BodyBudget = {
  /**
   * Returns an empty account for the bytes of one request body. The bytes will count for a share of the budget (for example the share of a
   * project) and for the sender's address. Bytes are charged only when `take` is called.
   */
  open(share: BodyShare, address: string): BodyCharge;
  /**
   * Returns the current state of the memory for request bodies. `bytes`: bytes in memory now. `refused`: bodies refused since the start,
   * because there was no room or because they were discarded to make room.
   */
  stats(): BodyStats;
};

/**
 * Current usage of the memory for request bodies. `bytes`: bytes in use. `refused`: number of bodies refused because there was no room, by
 * kind.
 */
export type BodyStats = { readonly bytes: number; readonly refused: Readonly<Record<BodyShareKind, number>> };

/** Counts the bytes of one request body in the memory budget for all bodies. */
export type BodyCharge = {
  /** Charges bytes that have arrived, and returns true. If the budget has no room for them, charges nothing and returns false. */
  take(bytes: number): boolean;
  /**
   * Marks the body as incomplete, because parts of it still have to arrive. From now until `complete` or `release`, the budget may call
   * `giveWay` once. `giveWay` must then discard the body, so that its memory becomes free for other bodies.
   */
  arrive(giveWay: () => void): void;
  /** Marks the request body as complete. From now on, it is not discarded to free memory for bodies that are arriving. */
  complete(): void;
  /** Counts the body as refused and releases its bytes. */
  refuse(): void;
  /** Releases all bytes of this body. Later calls of any method have no effect. */
  release(): void;
};

/** Limits of the memory that request bodies may use on a node. */
export type BodyBudgetOptions = {
  clock: Clock;
  /** Maximum for all request bodies that the node keeps in memory together, in bytes. */
  bytesMax: number;
  /**
   * Maximum for one share (all bodies of one toolkit (app), project or other kind of sender), in bytes. Default: a third of the maximum for
   * all bodies.
   */
  shareBytesMax?: number;
  /** Maximum number of body bytes that all requests without a key from one address may hold in memory. Default 64 KiB. */
  keylessBytesMax?: number;
};

const budgetBytesMin = 84 * 1024 * 1024;
const largestBodies = 12;

/**
 * Returns the memory budget of a node for request bodies, in bytes: 84 MiB, or 12 times `bodyBytesMax` if this is more. 84 MiB is far more
 * than a node's traffic needs, and keeps the process below 600 MiB. If the operator allows very large bodies (SVC_MAX_BODY_BYTES), 12 of
 * them must fit.
 */
export function bodyBudgetBytes(bodyBytesMax: number): number {
  return Math.max(budgetBytesMin, largestBodies * bodyBytesMax);
}

const shareDivisor = 3;
const keylessBytesDefault = 64 * 1024;
/**
 * Time in milliseconds after which an incomplete body counts as slow. svc may discard a slow body if the same sender needs room for
 * another.
 */
const slowMs = 2_000;

/**
 * Use of one share (part) of the memory budget by one client address. `bytes`: size of its request bodies in memory. `arriving`: its
 * incomplete bodies, oldest first.
 */
type Holder = {
  readonly share: Share;
  readonly address: string;
  bytes: number;
  readonly arriving: Set<ArrivingRequest>;
};
type Share = { readonly name: BodyShare; bytes: number; readonly holders: Map<string, Holder> };
type ArrivingRequest = { readonly sinceMs: number; readonly giveWay: () => void };

/**
 * Creates the node's memory budget for request bodies. If a new body does not fit, a larger sender may lose its oldest incomplete body.
 * Otherwise the new body is usually refused.
 */
export function createBodyBudget(options: BodyBudgetOptions): BodyBudget {
  const budget = new Budget(options);
  return {
    open: (share, address) => new Charge(budget, share, address),
    stats: () => ({ bytes: budget.bytes, refused: { ...budget.refused } }),
  };
}

class Budget {
  readonly clock: Clock;
  bytes = 0;
  readonly refused = { toolkit: 0, project: 0, administrator: 0, keyless: 0, lookup: 0 };
  readonly #bytesMax: number;
  readonly #shareBytesMax: number;
  readonly #keylessBytesMax: number;
  readonly #shares = new Map<BodyShare, Share>();

  constructor({ clock, bytesMax, shareBytesMax, keylessBytesMax }: BodyBudgetOptions) {
    this.clock = clock;
    this.#bytesMax = bytesMax;
    this.#shareBytesMax = shareBytesMax ?? Math.floor(bytesMax / shareDivisor);
    this.#keylessBytesMax = keylessBytesMax ?? keylessBytesDefault;
  }

  /**
   * Charges bytes of a request body to one sender address in one share of the budget (for example the share of a project). Discards bodies
   * to make room if necessary. Returns the holder, which counts the bytes of this address. Undefined if there is no room.
   */
  take(name: BodyShare, address: string, bytes: number): Holder | undefined {
    for (;;) {
      // A holder is the record of the bytes that one address uses in one share. It is looked up each time. If one of its bodies was
      // discarded, the holder may have been removed.
      const holder = this.#holder(name, address);
      const victim = this.#fits(holder, bytes) ? "none" : this.#victimOf(holder, bytes);
      if (victim === "none") {
        this.#add(holder, bytes);
        return holder;
      }
      if (victim === undefined) {
        this.#forgetEmpty(holder);
        return undefined;
      }
      oldestOf(victim)?.giveWay();
    }
  }

  give(holder: Holder, bytes: number): void {
    this.#add(holder, -bytes);
    this.#forgetEmpty(holder);
  }

  #holder(name: BodyShare, address: string): Holder {
    const share = this.#shares.get(name) ?? { name, bytes: 0, holders: new Map<string, Holder>() };
    const known = share.holders.get(address);
    if (known !== undefined) return known;
    const holder = { share, address, bytes: 0, arriving: new Set<ArrivingRequest>() };
    share.holders.set(address, holder);
    this.#shares.set(name, share);
    return holder;
  }

  #add(holder: Holder, bytes: number): void {
    this.bytes += bytes;
    holder.share.bytes += bytes;
    holder.bytes += bytes;
  }

  #forgetEmpty({ bytes, address, share }: Holder): void {
    if (bytes > 0) return;
    share.holders.delete(address);
    if (share.holders.size === 0) this.#shares.delete(share.name);
  }

  #fits(holder: Holder, bytes: number): boolean {
    return this.bytes + bytes <= this.#bytesMax && this.#fitsShare(holder, bytes) && this.#fitsAddress(holder, bytes);
  }

  #fitsShare({ share }: Holder, bytes: number): boolean {
    return share.bytes + bytes <= this.#shareBytesMax;
  }

  #fitsAddress({ share, bytes: held }: Holder, bytes: number): boolean {
    return share.name !== "keyless" || held + bytes <= this.#keylessBytesMax;
  }

  /**
   * Returns the sender whose request body is discarded, because `bytes` more bytes of `holder` do not fit. This is a sender that uses more
   * memory than `holder`, or `holder` itself if its body arrives slowly. Undefined if there is none.
   */
  #victimOf(holder: Holder, bytes: number): Holder | undefined {
    const itself = this.#isSlow(holder) ? holder : undefined;
    if (!this.#fitsAddress(holder, bytes)) return itself;
    const { share } = holder;
    // The whole node is full: the largest sender of the largest share loses a body, if that share has more bytes.
    if (this.#fitsShare(holder, bytes)) {
      const holders = [...this.#shares.values()]
        .filter((other) => other !== share && other.bytes > share.bytes + bytes)
        .map((other) => ({ bytes: other.bytes, largest: largestOf(other.holders.values()) }));
      const largest = largestBy(holders.filter((other) => other.largest !== undefined));
      if (largest !== undefined) return largest.largest;
    }
    // The share is full, or none has more bytes: the largest sender of the same share loses a body.
    const neighbour = largestOf(share.holders.values());
    return neighbour !== undefined && neighbour !== holder && neighbour.bytes > holder.bytes + bytes
      ? neighbour
      : itself;
  }

  #isSlow(holder: Holder): boolean {
    const oldest = oldestOf(holder);
    return oldest !== undefined && this.clock.now() - oldest.sinceMs >= slowMs;
  }
}

/**
 * Returns the holder (one client address and its buffered body bytes) that has the most bytes, among those with an incomplete body that may
 * be discarded. Undefined if no holder has an incomplete body.
 */
function largestOf(holders: Iterable<Holder>): Holder | undefined {
  return largestBy([...holders].filter(({ arriving }) => arriving.size > 0));
}

function largestBy<Item extends { readonly bytes: number }>(items: readonly Item[]): Item | undefined {
  return items.reduce<Item | undefined>(
    (found, item) => (found !== undefined && found.bytes >= item.bytes ? found : item),
    undefined,
  );
}

function oldestOf({ arriving }: Holder): ArrivingRequest | undefined {
  const [oldest] = arriving;
  return oldest;
}

function kindOf(share: BodyShare): BodyShareKind {
  if (share.startsWith("toolkit:")) return "toolkit";
  return share.startsWith("project:") ? "project" : (share as Exclude<BodyShare, `${string}:${string}`>);
}

class Charge implements BodyCharge {
  readonly #budget: Budget;
  readonly #share: BodyShare;
  readonly #address: string;
  #holder: Holder | undefined;
  #bytes = 0;
  #isReleased = false;
  #arriving: ArrivingRequest | undefined;

  constructor(budget: Budget, share: BodyShare, address: string) {
    this.#budget = budget;
    this.#share = share;
    this.#address = address;
  }

  take(bytes: number): boolean {
    if (bytes === 0) return true;
    const holder = this.#budget.take(this.#share, this.#address, bytes);
    if (holder === undefined) return false;
    if (this.#isReleased) {
      // This body itself was discarded to make room. So the bytes that were just charged are given back.
      this.#budget.give(holder, bytes);
      return false;
    }
    this.#holder = holder;
    this.#bytes += bytes;
    return true;
  }

  arrive(giveWay: () => void): void {
    this.#arriving = { sinceMs: this.#budget.clock.now(), giveWay };
    this.#holder?.arriving.add(this.#arriving);
  }

  complete(): void {
    if (this.#arriving !== undefined) this.#holder?.arriving.delete(this.#arriving);
    this.#arriving = undefined;
  }

  refuse(): void {
    this.#budget.refused[kindOf(this.#share)] += 1;
    this.release();
  }

  release(): void {
    this.#isReleased = true;
    const holder = this.#holder;
    if (holder === undefined) return;
    this.complete();
    this.#holder = undefined;
    this.#budget.give(holder, this.#bytes);
    this.#bytes = 0;
  }
}
