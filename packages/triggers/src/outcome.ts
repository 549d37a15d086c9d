import type { Fault } from "@svc/core";

/** A provider's post as it arrived, not verified yet. Header names are in lower case. */
export type InboundPost = {
  toolkitSlug: string;
  headers: Record<string, string>;
  query: URLSearchParams;
  /** The exact bytes that the provider signed. */
  body: Buffer;
};

/** Result of a post. The HTTP layer maps each to its answer in one exhaustive switch. */
export type IngestOutcome =
  /** 202 `{"accepted": 1}`: committed for `events` projects, or a duplicate of what was committed before. */
  | { outcome: "accepted"; events: number }
  /** 202 `{"accepted": 0}`: a handshake or notice that the toolkit's definition ignores. */
  | { outcome: "ignored" }
  /** 202 `{"accepted": 0}`: verified, but kept for an administrator. */
  | { outcome: "quarantined"; reason: string }
  /** 200 `{"challenge": challenge}`: the endpoint check of slack_v0. */
  | { outcome: "challenge"; challenge: string }
  /** 429: every project that would receive it is over a quota; nothing is stored. */
  | { outcome: "over_quota"; refusal: Fault }
  /** 404: no toolkit of that name takes posts. */
  | { outcome: "unknown_toolkit" }
  /** 403: the deployment holds no secret for it. */
  | { outcome: "secret_unset"; secretEnv: string }
  /** 401: missing, empty, stale or wrong signature. */
  | { outcome: "unverified" }
  /** 415: verified, and compressed in a way that is not read. */
  | { outcome: "encoding_unsupported"; encoding: string }
  /** 413: verified, and too large after decoding. */
  | { outcome: "too_large" }
  /** 503: verified, but there is no room to decode it now. */
  | { outcome: "unavailable" };
