import type { ServerResponse } from "node:http";
import { answerJson } from "../http/answer.ts";

/** Why a request for a client, a code or a token is refused, in the words of RFC 6749, 7591, 8707. */
export type AuthorizationError =
  | "invalid_request"
  | "invalid_client_metadata"
  | "invalid_redirect_uri"
  | "invalid_grant"
  | "invalid_target"
  | "invalid_scope"
  | "unsupported_grant_type"
  | "unsupported_response_type"
  | "access_denied"
  | "temporarily_unavailable";

/** Such a refusal; `description` says what was wrong and what would be right, in ASCII without quotes and backslashes. */
export class AuthorizationRefusal extends Error {
  override readonly name = "AuthorizationRefusal";
  readonly error: AuthorizationError;
  readonly status: number;
  /** After how long to come again, seconds; undefined where waiting does not help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(error: AuthorizationError, description: string, status = 400, retryAfterSeconds?: number) {
    super(description);
    this.error = error;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const unkept = { "cache-control": "no-store", pragma: "no-cache" } as const;

/** Answers with JSON that nobody keeps. */
export function answerUnkept(res: ServerResponse, status: number, json: object): void {
  answerJson(res, status, JSON.stringify(json), unkept);
}

/** Answers with a refusal, as clients of these protocols read it. */
export function answerRefusal(res: ServerResponse, refusal: AuthorizationRefusal): void {
  const { error, message, status, retryAfterSeconds } = refusal;
  const body = JSON.stringify({ error, error_description: message });
  answerJson(res, status, body, {
    ...unkept,
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  });
}
