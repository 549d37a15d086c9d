import { type ContextKey, createContextKey } from "@connectrpc/connect";
import type { Fault, FaultCode, Principal, WorkOwner } from "@svc/core";
import type { SessionProof } from "../console/proof.ts";

/** A call from its arrival to its answer, for the log and the metrics. */
export type Call = {
  readonly requestId: string;
  /** For example `svc.v1.TriggersService/ListEvents`. */
  readonly method: string;
  /** Monotonic milliseconds. */
  readonly startedMs: number;
  /** Set when the caller is known. */
  principal: Principal | undefined;
  /** `ok`, or the code of the error. */
  code: FaultCode | "ok";
  /** Trace of the call in W3C form, if its caller named one. */
  traceparent?: string;
  /** Releases the call's part of its project's quotas. Set when it is admitted. */
  leave?: () => void;
  /** Before a slow answer: rejects with a fault if its caller has lost permission. */
  confirm?: () => Promise<unknown> | undefined;
  /** Its console session proof, if it has no key. */
  readonly session?: SessionProof | undefined;
  /** Ends a running call with a fault. */
  readonly end?: (fault: Fault) => void;
};

/** Returns the owner of a call's work: its project, if the caller belongs to one. */
export function ownerOf({ requestId, principal }: Call): WorkOwner {
  return { projectId: principal?.kind === "project" ? principal.projectId : "", callId: requestId };
}

/** Context in which the HTTP layer stores the call for the gate and the interceptors. */
export const callContext: ContextKey<Call | undefined> = createContextKey<Call | undefined>(undefined, {
  description: "svc call",
});

/** Creates request ids that are unique across nodes and restarts: the node's id and a count. */
export function createRequestIds(nodeId: string): () => string {
  const prefix = nodeId.replace(/^node_/, "req_");
  let count = 0;
  return () => `${prefix}_${++count}`;
}

const saneRequestId = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

/** Returns the caller's own x-request-id if a header and a log line can hold it. */
export function acceptRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && saneRequestId.test(header) ? header : undefined;
}
