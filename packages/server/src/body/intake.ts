import type { IncomingMessage } from "node:http";
import { assertExhaustive, type Fault, type Principal, systemClock } from "@svc/core";
import { callerGone, serverFaults } from "../errors.ts";
import type { Connections } from "../listen/connections.ts";
import { StoreLateError, withinDeadline } from "../store-deadline.ts";
import { BodyError, hasBody } from "./body.ts";
import type { BodyBudget, BodyCharge, BodyShare } from "./body-budget.ts";

/** Receives request bodies for the handlers. It charges arriving bytes to their sender, and remembers which senders have a key. */
export type Intake = {
  /** Returns a new `BodyCharge`, which counts the bytes of this request's body. The bytes count in the memory budget for all bodies. */
  charge(req: IncomingMessage, share: BodyShare): BodyCharge;
  /**
   * Waits for `lookup` (the lookup of the caller's key) and returns its result. Meanwhile, the request's body is not read. A first part of
   * the body may have arrived together with the headers. If this part is larger than the limit for requests without a key, the wait is
   * short: a slow lookup then rejects with NODE_OVERLOADED.
   */
  keepBack<Found>(req: IncomingMessage, lookup: Promise<Found>): Promise<Found>;
  /**
   * Records that the sender of a request has a valid key or a valid signature. When there are too many connections, svc closes connections
   * of such senders last.
   */
  noteKey(req: IncomingMessage): void;
};

/**
 * Maximum body, in bytes, of a call that needs no key. Only health checks are such calls, and their body contains only the name of a
 * service.
 */
export const keylessBodyBytesMax = 1_024;

/**
 * Returns the share of the memory budget for bodies to which the body of a call is charged. It is the share of the caller's project, of the
 * administrator, or of all callers without a key.
 */
export function shareOf(principal: Principal | undefined): BodyShare {
  if (principal === undefined) return "keyless";
  return principal.kind === "project" ? `project:${principal.projectId}` : "administrator";
}

/** Returns the error for a body that did not arrive completely. */
export function bodyFault({ reason }: BodyError, bytesMax: number): Fault {
  switch (reason) {
    case "too_large":
      return serverFaults.BODY_TOO_LARGE(bytesMax);
    case "no_room":
      return serverFaults.NODE_OVERLOADED();
    case "undecodable":
      return serverFaults.REQUEST_MALFORMED({
        message: "decompression failed",
        help: "Send the body plain, or compressed as its header says.",
      });
    case "aborted":
      return callerGone();
    default:
      return assertExhaustive(reason);
  }
}

/** Delay in milliseconds of the answer to a request that is refused because the memory for bodies had no room for it. */
const refusalPauseMs = 200;

/**
 * Delays the refusal of a request if `error` says that the memory for bodies has no room for its body. Returns at once for other errors. A
 * refused sender is asked to retry after 5 s, but some senders retry at once. Without the delay, such a sender would occupy the whole node.
 */
export async function pauseBeforeRefusal(error: unknown): Promise<void> {
  if (error instanceof BodyError && error.reason === "no_room") await systemClock.wait(refusalPauseMs);
}

/**
 * Maximum time in milliseconds that a request with a large body waits for the lookup of its key. A lookup normally takes a small fraction
 * of this time.
 */
const lookupMs = 250;

/**
 * Creates the intake of a node, which controls how much memory the bodies of requests use. `connections`: the open connections of the node.
 * `bodies`: the memory budget of all bodies.
 */
export function createIntake({ connections, bodies }: { connections: Connections; bodies: BodyBudget }): Intake {
  const charge = (req: IncomingMessage, share: BodyShare) => bodies.open(share, connections.addressOf(req));
  return {
    charge,
    noteKey: (req) => connections.noteKey(req.socket),
    async keepBack(req, lookup) {
      if (!hasBody(req)) return lookup;
      // Several callers may share this lookup of a key, and each of them handles its error. This empty handler only prevents that Node
      // reports an unhandled error.
      lookup.catch(() => {});
      req.socket.pause();
      // Data that was read together with the headers is parsed during this `await`.
      await Promise.resolve();
      const own = charge(req, "keyless");
      const more = charge(req, "lookup");
      try {
        if (own.take(req.readableLength)) return await lookup;
        // More bytes than normal may be kept while the key is looked up. Many calls whose keys are not cached are not an attack: one lookup
        // takes milliseconds and serves all of them.
        if (more.take(req.readableLength)) return await withinDeadline(lookup, lookupMs).catch(overloadedIfLate);
        own.refuse();
        throw serverFaults.NODE_OVERLOADED();
      } finally {
        own.release();
        more.release();
      }
    },
  };
}

function overloadedIfLate(error: unknown): never {
  throw error instanceof StoreLateError ? serverFaults.NODE_OVERLOADED() : error;
}
