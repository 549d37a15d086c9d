import type { HandshakeAnswer } from "@svc/catalog";
import type { Fault, ProjectId } from "@svc/core";

/** A webhook post as it arrived from an app, before it is verified. Header names are in lower case. */
export type InboundPost = {
  toolkitSlug: string;
  /**
   * The project to whose private toolkit (an app that it defined itself) the webhook post was sent. Undefined for a toolkit of the shared
   * catalog.
   */
  projectId?: ProjectId;
  headers: Record<string, string>;
  query: URLSearchParams;
  /** The exact bytes that the app signed. */
  body: Buffer;
  /** Path and query of the request as they arrived. If undefined, a post whose signature covers the path or the query is refused. */
  target?: string;
};

/** Result of receiving a webhook post. The HTTP layer maps each result to an HTTP answer in one exhaustive switch. */
export type IngestOutcome =
  /**
   * Answer 202 `{"accepted": 1}`: the webhook post is stored for `events` projects, or it was stored before. `items`: number of accepted
   * elements, if the post is a list. The answer then has this number instead of 1.
   */
  | { outcome: "accepted"; events: number; items?: number }
  /** Answer 202 `{"accepted": 0}`: the webhook post is a handshake or a notice that the definition of the app's toolkit ignores. */
  | { outcome: "ignored" }
  /**
   * Answer 202 `{"accepted": 0}`: the webhook post is verified, but svc could not turn it into an event. svc keeps it (quarantine) until an
   * administrator decides.
   */
  | { outcome: "quarantined"; reason: string }
  /** The answer to a handshake, such as the check of a new address. Nothing is stored. */
  | { outcome: "challenge"; answer: HandshakeAnswer }
  /** Answer 429: every project that would receive the webhook post is over a quota. Nothing is stored. */
  | { outcome: "over_quota"; refusal: Fault }
  /** Answer 404: no toolkit (app) of that name takes webhook posts. */
  | { outcome: "unknown_toolkit" }
  /**
   * The webhook post is answered with status 403, because the app's toolkit has no secret by which posts are verified. `secretEnv`: the
   * environment variable for the secret; empty for a private toolkit (defined by one project).
   */
  | { outcome: "secret_unset"; secretEnv: string }
  /** Answer 503: the endpoint is not ready. `fault`: the reason, as a sentence for the operator. */
  | { outcome: "not_ready"; fault: string }
  /**
   * Answer 401: the signature of the webhook post is missing, empty, too old or wrong. `why`: returns the reason for the operator; the
   * sender does not learn it. It verifies the post a second time, so call it only to log the reason.
   */
  | { outcome: "unverified"; why?: () => string }
  /** Answer 415: the webhook post is verified, but svc does not support its compression. */
  | { outcome: "encoding_unsupported"; encoding: string }
  /** Answer 413: the webhook post is verified, but it is too large after decoding. */
  | { outcome: "too_large" }
  /** Answer 503: the webhook post is verified, but the node is decoding too many other bodies now. The app should post again later. */
  | { outcome: "unavailable" };
