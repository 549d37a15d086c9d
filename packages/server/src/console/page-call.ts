import type { IncomingMessage, ServerResponse } from "node:http";
import { type Fault, isObject, type JsonObject, type JsonValue, parseExactJson, readForeignText } from "@svc/core";
import { BodyError, hasBody, readBody } from "../body/body.ts";
import { bodyFault, type Intake, pauseBeforeRefusal } from "../body/intake.ts";
import { serverFaults } from "../errors.ts";
import { answerError, answerJson } from "../http/answer.ts";
import type { CallErrorMapper } from "../rpc/call-error.ts";
import { consoleFaults } from "./errors.ts";
import type { ConsoleOrigin } from "./proof.ts";

/** Answer to a request of the console's pages. `json`: the body, if there is one. `cookie`: the cookie to set, if there is one. */
export type PageAnswer = { readonly json?: JsonValue; readonly cookie?: string };

/**
 * Handles one HTTP method of a path of the console's pages. `body`: empty if the request has no body. If it rejects with a Fault, the
 * answer has the same form as an error of an API call.
 */
export type PageCall = (body: JsonObject, req: IncomingMessage) => Promise<PageAnswer>;

/** Dependencies of handlers of the console's pages. */
export type PageCallOptions = {
  readonly origin: ConsoleOrigin;
  readonly intake: Intake;
  readonly mapError: CallErrorMapper;
};

/** Maximum size of a request body of the console's pages, in bytes. The largest content is the credentials of an account. */
const bodyBytesMax = 16_384;
const depthMax = 16;

/**
 * Returns a handler for a path to which the console's own pages send POST requests. A request must have the service's own Origin, and a
 * JSON body of at most 16 KiB. The body counts against the memory limit for requests without a key.
 */
export function servePageCall(
  calls: Readonly<Partial<Record<string, PageCall>>>,
  options: PageCallOptions,
): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const { method = "" } = req;
    const call = Object.hasOwn(calls, method) ? calls[method] : undefined;
    res.setHeader("cache-control", "no-store");
    if (call === undefined) {
      const allowed = Object.keys(calls);
      return answerError(res, serverFaults.METHOD_NOT_ALLOWED(method, allowed.join(" or ")), 405, {
        allow: allowed.join(", "),
      });
    }
    const refusal = options.origin.faultOf(req);
    if (refusal !== undefined) return answerError(res, refusal);
    const contentType = req.headers["content-type"] ?? "";
    if (hasBody(req) && !/^application\/json\b/i.test(contentType)) {
      return answerError(res, serverFaults.CONTENT_TYPE_UNSUPPORTED(contentType, "application/json"), 415);
    }
    answer(call, req, res, options).catch((error: unknown) => {
      answerError(res, options.mapError(error, undefined));
    });
  };
}

async function answer(
  call: PageCall,
  req: IncomingMessage,
  res: ServerResponse,
  { intake }: PageCallOptions,
): Promise<void> {
  const { json, cookie } = await call(await readJson(req, intake), req);
  const headers = cookie === undefined ? {} : { "set-cookie": cookie };
  answerJson(res, 200, JSON.stringify(json ?? {}), headers);
}

async function readJson(req: IncomingMessage, intake: Intake): Promise<JsonObject> {
  if (!hasBody(req)) return {};
  const charge = intake.charge(req, "keyless");
  try {
    const read = readForeignText(await readBody(req, bodyBytesMax, charge), req.headers["content-type"]);
    if ("fault" in read) throw malformed();
    return parse(read.text);
  } catch (error) {
    await pauseBeforeRefusal(error);
    throw error instanceof BodyError ? bodyFault(error, bodyBytesMax) : error;
  } finally {
    charge.release();
  }
}

function parse(text: string): JsonObject {
  let value: unknown;
  try {
    value = parseExactJson(text, { depthMax });
  } catch {
    // The error does not quote the body, because the body may contain a key.
    throw malformed();
  }
  if (!isObject(value)) throw malformed();
  return value as JsonObject;
}

function malformed(): Fault {
  return consoleFaults.REQUEST_MALFORMED("", "the body is not a JSON object", "Send one JSON object.");
}

/**
 * Returns the text in a field of a page's request; undefined if the field is missing or empty. Throws REQUEST_MALFORMED if the field has
 * another type.
 */
export function textField(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string") return value;
  throw consoleFaults.REQUEST_MALFORMED(name, `${name} is not a text`, `Send ${name} as a string.`);
}
