import type { IncomingMessage } from "node:http";
import { assertExhaustive, type Fault, type Principal, systemClock } from "@svc/core";
import { callerGone, serverFaults } from "../errors.ts";
import type { Connections } from "../listen/connections.ts";
import { StoreLateError, withinDeadline } from "../store-deadline.ts";
import { BodyError, hasBody } from "./body.ts";
import type { BodyBudget, BodyCharge, BodyShare } from "./body-budget.ts";

/** Accepts requests for handlers: arriving bytes are charged to the sender, and senders with a key are remembered. */
export type Intake = {
  /** Opens the charge of a request's body. */
  charge(req: IncomingMessage, share: BodyShare): BodyCharge;
  /**
   * Waits for a key's lookup without reading the request's body. Rejects like the lookup, or with NODE_OVERLOADED if the lookup takes long
   * and the bytes that came with the headers exceed an address's limit without a key.
   */
  keepBack<Found>(req: IncomingMessage, lookup: Promise<Found>): Promise<Found>;
  /** Records that the sender of a request showed a valid key or signature. */
  noteKey(req: IncomingMessage): void;
};

/** Maximum body of a call that needs no key, bytes: health checks name a service. */
export const keylessBodyBytesMax = 1_024;

/** Returns the share of a call's body. */
export function shareOf(principal: Principal | undefined): BodyShare {
  if (principal === undefined) return "keyless";
  return principal.kind === "project" ? `project:${principal.projectId}` : "administrator";
}

/** Returns the fault for a body that did not arrive completely. */
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

/** Delay before a refusal because of missing room, milliseconds. */
const refusalPauseMs = 200;

/**
 * Waits before a refusal because of missing room; other refusals are answered at once. A sender above its share should retry after 5 s.
 * Without the delay, one that retries at once would occupy the whole node.
 */
export async function pauseBeforeRefusal(error: unknown): Promise<void> {
  if (error instanceof BodyError && error.reason === "no_room") await systemClock.wait(refusalPauseMs);
}

/** How long bytes above an address's limit may wait for a key's lookup, milliseconds: many times a normal lookup. */
const lookupMs = 250;

/** Creates the intake for a node's connections and budget. */
export function createIntake({ connections, bodies }: { connections: Connections; bodies: BodyBudget }): Intake {
  const charge = (req: IncomingMessage, share: BodyShare) => bodies.open(share, connections.addressOf(req));
  return {
    charge,
    noteKey: (req) => connections.noteKey(req.socket),
    async keepBack(req, lookup) {
      if (!hasBody(req)) return lookup;
      // The other callers with the same key receive the error as well.
      lookup.catch(() => {});
      req.socket.pause();
      // The data read together with the headers is parsed in this turn.
      await Promise.resolve();
      const own = charge(req, "keyless");
      const more = charge(req, "lookup");
      try {
        if (own.take(req.readableLength)) return await lookup;
        // A burst of calls with a new key is no attack: a lookup takes milliseconds and serves all of them.
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
