import { type Fault, fault, formatValue } from "@svc/core";

/** The request shows half of a session, none that is open, or a seat that it does not have. `why` says which. */
export function sessionInvalid(why: string, help = "Sign in again with a key."): Fault {
  return fault({ code: "unauthenticated", reason: "SESSION_INVALID", message: `no session: ${why}`, help });
}

/** What only the console's own pages may send comes from elsewhere. */
export function foreignPage(why: string): Fault {
  return fault({
    code: "permission_denied",
    reason: "ORIGIN_REFUSED",
    message: `the request comes from no page of this service: ${why}`,
    help: "Open the console at the address of the service; elsewhere send an API key. Behind a proxy, set SVC_PUBLIC_URL.",
  });
}

/** A link of the console that does nothing: unknown, used, over, or ended with its key. `why` says which. */
export function linkInvalid(why: string, help: string): Fault {
  return fault({ code: "unauthenticated", reason: "LINK_INVALID", message: why, help });
}

/** An address tried to sign in too often, or a key or link was shown or used too often. `message` says which. */
export function signInsExceeded(message: string, retryAfterMs: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "SIGN_INS_EXCEEDED",
    message,
    help: "Try again after the time of Retry-After.",
    retryAfterMs,
  });
}

/** The body of a page's request is not what its handler takes. */
export function pageRequestMalformed(field: string, message: string, help: string): Fault {
  return fault({ code: "invalid_argument", reason: "REQUEST_MALFORMED", field, message, help });
}

/** A seat that is named by something else than a key's id or `admin`. */
export function seatMalformed(seat: string): Fault {
  return sessionInvalid(`${formatValue(seat)} names no seat`, "Send the id of a key, or admin, as Svc-Seat.");
}

/** No session of this id has a seat of the calling key. */
export function sessionNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "SESSION_NOT_FOUND",
    field: "id",
    message: `no session ${formatValue(id)} has a seat of this key`,
    help: "ListSessions returns those that have one.",
  });
}
