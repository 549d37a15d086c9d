import type { IncomingMessage } from "node:http";
import { type ContextKey, createContextKey } from "@connectrpc/connect";
import type { Fault, FaultCode, Principal, WorkOwner } from "@svc/core";
import type { SessionProof } from "../console/proof.ts";

/** A call from its arrival until its answer, as the log and the metrics use it. */
export type Call = {
  readonly requestId: string;
  /** Full name of the method, such as `svc.v1.TriggersService/ListEvents`. */
  readonly method: string;
  /** Start of the call, in monotonic milliseconds. */
  readonly startedMs: number;
  /** The caller. Undefined until the caller is known. */
  principal: Principal | undefined;
  /** `ok`, or the code of the call's error. */
  code: FaultCode | "ok";
  /** The caller's trace in W3C form, if the caller sent one. */
  traceparent?: string;
  /** Releases the part of the project's quotas that the call uses. Set when the call is admitted. */
  leave?: () => void;
  /**
   * Counts this call in the project's quota of calls that wait for something, such as the end of a job, until the call ends. Throws the
   * quota's refusal if too many calls wait. Set when the call of a project is admitted.
   */
  enterWait?: () => void;
  /** Checks the caller's permission again before a slow answer. Rejects with a fault if the caller has lost the permission. */
  confirm?: () => Promise<unknown> | undefined;
  /** Proof of a console session, if the call has no key. */
  readonly session?: SessionProof | undefined;
  /** Ends a running call with a fault. */
  readonly end?: (fault: Fault) => void;
};

/**
 * Returns for whom a call does its work: the caller's project, and the id of the request. The project is empty for a caller without one.
 */
export function ownerOf({ requestId, principal }: Call): WorkOwner {
  return { projectId: principal?.kind === "project" ? principal.projectId : "", callId: requestId };
}

/**
 * Key under which Connect's context of a call contains the `Call` object. The HTTP layer stores the object, and the key check and the
 * interceptors read it.
 */
export const callContext: ContextKey<Call | undefined> = createContextKey<Call | undefined>(undefined, {
  description: "svc call",
});

/**
 * Returns a function that creates request ids. An id consists of the node's id and a number, so it is unique over all nodes and restarts.
 */
export function createRequestIds(nodeId: string): () => string {
  const prefix = nodeId.replace(/^node_/, "req_");
  let count = 0;
  return () => `${prefix}_${++count}`;
}

/** Returns the header `traceparent` of a request, or null if it has none. It may have any form. */
export function traceOf({ headers }: Pick<IncomingMessage, "headers">): string | null {
  const { traceparent } = headers;
  return typeof traceparent === "string" ? traceparent : null;
}

const saneRequestId = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

/**
 * Returns the request id that the caller sent in x-request-id, if it is valid in a header and in a log line. Otherwise returns undefined.
 */
export function acceptRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && saneRequestId.test(header) ? header : undefined;
}
