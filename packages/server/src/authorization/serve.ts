import type { IncomingMessage, ServerResponse } from "node:http";
import { isObject, isReadableForm, type JsonObject, parseExactJson, readForeignText } from "@svc/core";
import { BodyError, readBody } from "../body/body.ts";
import { bodyFault, type Intake, pauseBeforeRefusal } from "../body/intake.ts";
import { serverFaults } from "../errors.ts";
import { answerError, answerJson } from "../http/answer.ts";
import type { PageHandler } from "../pages/pages.ts";
import type { CallErrorMapper } from "../rpc/call-error.ts";

/** Why a request for a client, a code or a token is refused, in the words of RFC 6749, 7591, 8707. */
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
function answerRefusal(res: ServerResponse, refusal: AuthorizationRefusal): void {
  const { error, message, status, retryAfterSeconds } = refusal;
  const body = JSON.stringify({ error, error_description: message });
  answerJson(res, status, body, {
    ...unkept,
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  });
}

/** What every path of authorization is served with. */
export type AuthorizationOptions = { readonly intake: Intake; readonly mapError: CallErrorMapper };

type Answer = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** Serves a path, by its methods. A refusal is answered as clients of the protocol read it, anything else as the API does. */
export function serve(
  answers: Readonly<Partial<Record<string, Answer>>>,
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

/** Serves a document that says how the service is to be used. Any page may read it. */
export function serveDocument(documentOf: (req: IncomingMessage) => object): PageHandler {
  return (req, res) => {
    const { method = "" } = req;
    if (method !== "GET" && method !== "HEAD")
      return answerError(res, serverFaults.METHOD_NOT_ALLOWED(method, "GET"), 405, { allow: "GET, HEAD" });
    const headers = { "access-control-allow-origin": "*", "cache-control": "no-store", vary: "host" };
    answerJson(res, 200, JSON.stringify(documentOf(req)), headers);
  };
}

/** A client's description of itself, or a form with a sealed request, is a few kilobytes. */
const bodyBytesMax = 16_384;
const depthMax = 8;

/** Reads a form. Throws AuthorizationRefusal for another content type, and for a field that stands there twice unless it `repeats`. */
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

/** Reads a JSON object. Throws AuthorizationRefusal for anything else. */
export async function readJson(
  req: IncomingMessage,
  { intake }: Pick<AuthorizationOptions, "intake">,
): Promise<JsonObject> {
  requireType(req, "application/json");
  const json = parse(await readText(req, intake));
  if (!isObject(json)) throw new AuthorizationRefusal("invalid_request", "the body is no JSON object");
  return json as JsonObject;
}

function parse(text: string): unknown {
  try {
    return parseExactJson(text, { depthMax });
  } catch {
    return undefined;
  }
}

/** Throws AuthorizationRefusal where a parameter stands there twice (RFC 6749, 3.1). */
export function requireOnce(parameters: URLSearchParams, repeats: readonly string[] = []): void {
  for (const name of new Set(parameters.keys())) {
    if (repeats.includes(name) || parameters.getAll(name).length === 1) continue;
    throw new AuthorizationRefusal("invalid_request", "a parameter stands there more than once");
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
