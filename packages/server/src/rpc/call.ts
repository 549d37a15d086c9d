import { type ContextKey, createContextKey } from "@connectrpc/connect";
import type { Fault, FaultCode, Principal, WorkOwner } from "@svc/core";
import type { SessionProof } from "../console/proof.ts";

/** One call from its arrival to its answer, for the log and the metrics. */
export type Call = {
  readonly requestId: string;
  /** `svc.v1.TriggersService/ListEvents`. */
  readonly method: string;
  /** Monotonic milliseconds. */
  readonly startedMs: number;
  /** Set once the caller is known. */
  principal: Principal | undefined;
  /** `ok`, or the code of the error. */
  code: FaultCode | "ok";
  /** The trace that it belongs to, where its caller named one, as W3C writes it. */
  traceparent?: string;
  /** Gives back what the call holds of its project's quotas; set once it was let in. */
  leave?: () => void;
  /** Before an answer that took long: rejects with a fault if its caller may not make the call any more. */
  confirm?: () => Promise<unknown> | undefined;
  /** What it shows of a session of the console, where it shows no key. */
  readonly session?: SessionProof | undefined;
  /** Ends it, as long as it goes on, with a fault. */
  readonly end?: (fault: Fault) => void;
};

/** Whose work a call is: of its project, where the caller is one. */
export function ownerOf({ requestId, principal }: Call): WorkOwner {
  return { projectId: principal?.kind === "project" ? principal.projectId : "", callId: requestId };
}

/** Where the HTTP layer leaves the call for the gate and the interceptors. */
export const callContext: ContextKey<Call | undefined> = createContextKey<Call | undefined>(undefined, {
  description: "svc call",
});

/** Makes request ids that are unique across nodes and restarts: the node's own id and a count. */
export function createRequestIds(nodeId: string): () => string {
  const prefix = nodeId.replace(/^node_/, "req_");
  let count = 0;
  return () => `${prefix}_${++count}`;
}

const saneRequestId = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

/** The caller's own x-request-id where it is one that a header and a log line can carry. */
export function acceptRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && saneRequestId.test(header) ? header : undefined;
}
