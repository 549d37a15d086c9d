import { call, defineFaults, formatValue, text, wait } from "@svc/core";

/** Errors of console sessions. */
export const consoleFaults = defineFaults({
  /**
   * The request does not prove an open console session. The proof has two parts: a cookie, and a value that the page sends in a header.
   * `why`: what is wrong, for example that a part is missing, that the session has ended, or that the request names an unknown seat (key of
   * the session).
   */
  SESSION_INVALID: {
    code: "unauthenticated",
    says: (why: string) => `no session: ${why}`,
    help: (_why: string, help?: string) => help ?? "Sign in again with a key.",
  },
  /** The seat that a request names is neither the id of a key nor `admin`. A seat is the access of one key in a console session. */
  SEAT_MALFORMED: {
    code: "unauthenticated",
    reason: "SESSION_INVALID",
    says: (seat: string) => `no session: ${formatValue(seat)} names no seat`,
    help: "Send the id of a key, or admin, as Svc-Seat.",
  },
  ORIGIN_REFUSED: {
    code: "permission_denied",
    says: (why: string) => `the request does not come from a page of this service: ${why}`,
    help: "Open the console at the address of the service; elsewhere send an API key. Behind a proxy, set SVC_PUBLIC_URL.",
  },
  /**
   * The console link cannot be used: it is unknown, used, expired, or ended together with its key. `why`: says which of these is the case.
   */
  LINK_INVALID: {
    code: "unauthenticated",
    says: (why: string) => why,
    help: (_why: string, help: string) => help,
  },
  /** An address tried to sign in too often, or a key or link was used too often. `message`: says which of these is the case. */
  SIGN_INS_EXCEEDED: {
    code: "resource_exhausted",
    says: (message: string) => message,
    help: text`Try again ${wait}.`,
    retryAfterMs: (_message: string, retryAfterMs: number) => retryAfterMs,
  },
  REQUEST_MALFORMED: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (_path: string, message: string) => message,
    help: (_path: string, _message: string, help: string) => help,
  },
  SESSION_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `no session ${formatValue(id)} has a seat of this key`,
    help: text`${call("ListSessions")} returns the sessions that have one.`,
  },
});
