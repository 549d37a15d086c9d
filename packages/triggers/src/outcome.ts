/** A provider's post as it arrived. Header names are lower case; nothing of it is verified yet. */
export type InboundPost = {
  toolkitSlug: string;
  headers: Record<string, string>;
  query: URLSearchParams;
  /** The exact bytes that the provider signed. */
  body: Buffer;
};

/** What became of a post. The HTTP layer gives each its answer in one exhaustive switch. */
export type IngestOutcome =
  /** 202 `{"accepted": events}`: committed, or a duplicate of what was committed before. */
  | { outcome: "accepted"; events: number }
  /** 202 `{"accepted": 0}`: a handshake or notice that the toolkit's definition ignores. */
  | { outcome: "ignored" }
  /** 202 `{"accepted": 0}`: verified, but kept for an administrator. */
  | { outcome: "quarantined"; reason: string }
  /** 200 `{"challenge": challenge}`: the endpoint check of slack_v0. */
  | { outcome: "challenge"; challenge: string }
  /** 404: no toolkit of that name takes posts. */
  | { outcome: "unknown_toolkit" }
  /** 403: the deployment holds no secret for it. */
  | { outcome: "secret_unset"; secretEnv: string }
  /** 401: missing, empty, stale or wrong signature. */
  | { outcome: "unverified" };
