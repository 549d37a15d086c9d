import type { IncomingMessage } from "node:http";
import { assertExhaustive, type Fault, type Principal, systemClock } from "@svc/core";
import { callerGone, serverFaults } from "../errors.ts";
import type { Connections } from "../listen/connections.ts";
import { StoreLateError, withinDeadline } from "../store-deadline.ts";
import { BodyError, hasBody } from "./body.ts";
import type { BodyBudget, BodyCharge, BodyShare } from "./body-budget.ts";

/** How handlers take requests in: what arrives is charged to its sender, and who shows a key is known from then on. */
export type Intake = {
  /** Opens the charge of a request's body. */
  charge(req: IncomingMessage, share: BodyShare): BodyCharge;
  /**
   * Waits for a key's lookup and reads nothing of the request's body meanwhile. Rejects with what the lookup rejects with, or with
   * NODE_OVERLOADED when the lookup takes long and what came with the headers is more than an address may send without a key.
   */
  keepBack<Found>(req: IncomingMessage, lookup: Promise<Found>): Promise<Found>;
  /** The sender of a request has shown a valid key, or a signature. */
  noteKey(req: IncomingMessage): void;
};

/** Largest body of a call that needs no key, bytes: health checks name a service. */
export const keylessBodyBytesMax = 1_024;

/** Whose the bytes of a call's body are. */
export function shareOf(principal: Principal | undefined): BodyShare {
  if (principal === undefined) return "keyless";
  return principal.kind === "project" ? `project:${principal.projectId}` : "administrator";
}

/** What a caller is told of a body that did not arrive whole. */
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

/** How long a sender whose body found no room waits to be told so, milliseconds. */
const refusalPauseMs = 200;

/**
 * Waits before a refusal of a body for want of room is answered; of others at once. Who is over its share is told to come back in 5 s:
 * one that comes back at once, many times over, would be all that the node does.
 */
export async function pauseBeforeRefusal(error: unknown): Promise<void> {
  if (error instanceof BodyError && error.reason === "no_room") await systemClock.wait(refusalPauseMs);
}

/** How long bytes beyond an address's own may wait for a key's lookup, milliseconds: many times what one takes. */
const lookupMs = 250;

/** Makes the intake over a node's connections and budget. */
export function createIntake({ connections, bodies }: { connections: Connections; bodies: BodyBudget }): Intake {
  const charge = (req: IncomingMessage, share: BodyShare) => bodies.open(share, connections.addressOf(req));
  return {
    charge,
    noteKey: (req) => connections.noteKey(req.socket),
    async keepBack(req, lookup) {
      if (!hasBody(req)) return lookup;
      // Whoever asked for the same key hears of a failure as well.
      lookup.catch(() => {});
      req.socket.pause();
      // What was read together with the headers is parsed in this turn.
      await Promise.resolve();
      const own = charge(req, "keyless");
      const more = charge(req, "lookup");
      try {
        if (own.take(req.readableLength)) return await lookup;
        // A burst of calls with a new key is no attack: a lookup takes milliseconds and serves them all.
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
