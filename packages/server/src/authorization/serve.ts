import type { IncomingMessage, ServerResponse } from "node:http";
import { isObject, isReadableForm, type JsonObject, parseExactJson, readForeignText } from "@svc/core";
import { BodyError, readBody } from "../body/body.ts";
import { bodyFault, type Intake, pauseBeforeRefusal } from "../body/intake.ts";
import { serverFaults } from "../errors.ts";
import { answerError, answerJson } from "../http/answer.ts";
import type { PageHandler } from "../pages/pages.ts";
import type { CallErrorMapper } from "../rpc/call-error.ts";

/** Error codes with which svc's OAuth paths answer, as RFC 6749, RFC 7591, RFC 8628 and RFC 8707 define them. */
type AuthorizationError =
  | "invalid_request"
  | "invalid_client_metadata"
  | "invalid_redirect_uri"
  | "invalid_grant"
  | "invalid_target"
  | "invalid_scope"
  | "unsupported_grant_type"
  | "unsupported_response_type"
  | "access_denied"
  | "authorization_pending"
  | "expired_token"
  | "slow_down"
  | "temporarily_unavailable";

/**
 * Error that svc's OAuth paths answer in the JSON form of OAuth. `description`: what is wrong or how the client can correct it, in ASCII
 * without quotes and backslashes.
 */
export class AuthorizationRefusal extends Error {
  override readonly name = "AuthorizationRefusal";
  readonly error: AuthorizationError;
  readonly status: number;
  /** Seconds after which the client may retry; undefined if waiting does not help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(error: AuthorizationError, description: string, status = 400, retryAfterSeconds?: number) {
    super(description);
    this.error = error;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const unkept = { "cache-control": "no-store", pragma: "no-cache" } as const;

/** Answers with JSON that caches do not store. */
export function answerUnkept(res: ServerResponse, status: number, json: object): void {
  answerJson(res, status, JSON.stringify(json), unkept);
}

/** Answers with the JSON error body that OAuth defines (`error` and `error_description`), which caches do not store. */
function answerRefusal(res: ServerResponse, refusal: AuthorizationRefusal): void {
  const { error, message, status, retryAfterSeconds } = refusal;
  const body = JSON.stringify({ error, error_description: message });
  answerJson(res, status, body, {
    ...unkept,
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  });
}

/** Dependencies of every HTTP path for OAuth authorization. */
export type AuthorizationOptions = { readonly intake: Intake; readonly mapError: CallErrorMapper };

type PathHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/**
 * Creates the handler of a path from the handlers of its HTTP methods. Answers AuthorizationRefusal in the form of OAuth, and other errors
 * in the form of the API.
 */
export function serve(
  answers: Readonly<Partial<Record<string, PathHandler>>>,
  { mapError }: AuthorizationOptions,
): PageHandler {
  return (req, res) => {
    const { method = "" } = req;
    const answer = Object.hasOwn(answers, method) ? answers[method] : undefined;
    if (answer === undefined) {
      const allowed = Object.keys(answers);
      return answerError(res, serverFaults.METHOD_NOT_ALLOWED(method, allowed.join(" or ")), 405, {
        allow: allowed.join(", "),
      });
    }
    answer(req, res).catch(async (error: unknown) => {
      await pauseBeforeRefusal(error);
      if (error instanceof AuthorizationRefusal) return answerRefusal(res, error);
      answerError(res, error instanceof BodyError ? bodyFault(error, bodyBytesMax) : mapError(error, undefined));
    });
  };
}

/**
 * Maximum size in bytes of a request body at the OAuth paths. The largest bodies have a few kilobytes: the description with which a client
 * registers, and a form that contains an encrypted authorization request.
 */
const bodyBytesMax = 16_384;
const depthMax = 8;

/**
 * Returns the fields of a form. Throws AuthorizationRefusal if the content type is wrong, or if a field occurs more than once and is not
 * listed in `repeats`.
 */
export async function readForm(
  req: IncomingMessage,
  { intake }: Pick<AuthorizationOptions, "intake">,
  repeats: readonly string[] = [],
): Promise<URLSearchParams> {
  requireType(req, "application/x-www-form-urlencoded");
  const text = await readText(req, intake);
  if (!isReadableForm(text)) throw new AuthorizationRefusal("invalid_request", "the form is not percent-encoded UTF-8");
  const form = new URLSearchParams(text);
  requireOnce(form, repeats);
  return form;
}

/** Returns the JSON object in a request body. Throws AuthorizationRefusal if the body is not a JSON object. */
export async function readJson(
  req: IncomingMessage,
  { intake }: Pick<AuthorizationOptions, "intake">,
): Promise<JsonObject> {
  requireType(req, "application/json");
  const json = parse(await readText(req, intake));
  if (!isObject(json)) throw new AuthorizationRefusal("invalid_request", "the body is not a JSON object");
  return json as JsonObject;
}

function parse(text: string): unknown {
  try {
    return parseExactJson(text, { depthMax });
  } catch {
    return undefined;
  }
}

/** Throws AuthorizationRefusal if a parameter occurs more than once and is not listed in `repeats` (RFC 6749, 3.1). */
export function requireOnce(parameters: URLSearchParams, repeats: readonly string[] = []): void {
  for (const name of new Set(parameters.keys())) {
    if (repeats.includes(name) || parameters.getAll(name).length === 1) continue;
    throw new AuthorizationRefusal("invalid_request", "a parameter is given more than once");
  }
}

function requireType(req: IncomingMessage, type: string): void {
  const given = (req.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (given !== type) throw new AuthorizationRefusal("invalid_request", `the content type is not ${type}`, 415);
}

async function readText(req: IncomingMessage, intake: Intake): Promise<string> {
  const read = readForeignText(await readWhole(req, intake), req.headers["content-type"]);
  if ("text" in read) return read.text;
  throw new AuthorizationRefusal("invalid_request", `the body ${read.fault}`);
}

async function readWhole(req: IncomingMessage, intake: Intake): Promise<Buffer> {
  const charge = intake.charge(req, "keyless");
  try {
    return await readBody(req, bodyBytesMax, charge);
  } finally {
    charge.release();
  }
}
