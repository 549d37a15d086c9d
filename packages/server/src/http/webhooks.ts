import type { IncomingMessage, ServerResponse } from "node:http";
import { assertNever } from "@svc/core";
import { isUnavailable } from "@svc/db";
import type { InboundPost, IngestOutcome } from "@svc/triggers";
import {
  bodyTooLarge,
  callUnknown,
  internalFault,
  methodNotAllowed,
  storeUnavailable,
  webhookSecretUnset,
  webhookUnknown,
  webhookUnverified,
} from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { StoreAlarm } from "../store-alarm.ts";
import { answerError, answerJson } from "./answer.ts";
import { BodyError, readBody } from "./body.ts";

/** What takes posts: the ingest engine of packages/triggers. */
export type PostReceiver = {
  /** An answer that needs no body; undefined when the post is to be read and accepted. */
  admit(toolkitSlug: string): IngestOutcome | undefined;
  /** Rejects when the store is away. */
  accept(post: InboundPost): Promise<IngestOutcome>;
};

/** What became of a post, for the metrics. */
export type PostOutcome = IngestOutcome["outcome"] | "too_large" | "aborted" | "unavailable" | "failed";

/** How posts are served. */
export type WebhookOptions = {
  ingest: PostReceiver;
  bodyBytesMax: number;
  createRequestId: () => string;
  logger: Logger;
  onStoreAway: StoreAlarm;
  /** Hears of each post once its answer is decided. `toolkitSlug` is a toolkit's, or empty for an unknown one. */
  onPost: (toolkitSlug: string, outcome: PostOutcome) => void;
};

/** Serves one post to `/webhooks/<slug>`. The query may hold a secret: it is given to nobody but the engine. */
export type WebhookHandler = (path: string, query: string, req: IncomingMessage, res: ServerResponse) => void;

/** Where posts arrive; a toolkit's slug follows. */
export const webhookPrefix = "/webhooks/";

const slugPattern = /^[a-z0-9_-]{1,100}$/;
const noQuery = new URLSearchParams();

/** Makes the handler of inbound posts. */
export function createWebhookHandler(options: WebhookOptions): WebhookHandler {
  const { ingest, onPost } = options;
  return (path, query, req, res) => {
    const slug = path.slice(webhookPrefix.length);
    if (!slugPattern.test(slug)) return answerError(res, callUnknown(path), 404);
    if (req.method !== "POST")
      return answerError(res, methodNotAllowed(req.method ?? "", "POST"), 405, { allow: "POST" });
    const early = ingest.admit(slug);
    if (early !== undefined) {
      onPost(early.outcome === "unknown_toolkit" ? "" : slug, early.outcome);
      return answerOutcome(res, slug, early);
    }
    receive(slug, query, req, options).then(
      (outcome) => {
        onPost(slug, outcome.outcome);
        answerOutcome(res, slug, outcome);
      },
      (error: unknown) => onPost(slug, answerFailure(res, slug, error, options)),
    );
  };
}

async function receive(
  slug: string,
  query: string,
  req: IncomingMessage,
  { ingest, bodyBytesMax }: WebhookOptions,
): Promise<IngestOutcome> {
  const body = await readBody(req, bodyBytesMax);
  return ingest.accept({
    toolkitSlug: slug,
    headers: headersOf(req),
    query: query === "" ? noQuery : new URLSearchParams(query),
    body,
  });
}

/** Node joins repeated headers itself, all but set-cookie, which no provider sends. */
function headersOf(req: IncomingMessage): Record<string, string> {
  const { headers } = req;
  if (headers["set-cookie"] !== undefined) delete headers["set-cookie"];
  return headers as Record<string, string>;
}

function answerOutcome(res: ServerResponse, slug: string, outcome: IngestOutcome): void {
  switch (outcome.outcome) {
    case "accepted":
      answerAccepted(res, outcome.events);
      break;
    case "ignored":
    case "quarantined":
      answerAccepted(res, 0);
      break;
    case "challenge":
      answerJson(res, 200, JSON.stringify({ challenge: outcome.challenge }));
      break;
    case "unknown_toolkit":
      answerError(res, webhookUnknown(slug));
      break;
    case "secret_unset":
      answerError(res, webhookSecretUnset(outcome.secretEnv));
      break;
    case "unverified":
      answerError(res, webhookUnverified());
      break;
    default:
      assertNever(outcome);
  }
}

/** The hot answer. With its length stated, head and body leave in one write; without, Node would send it in chunks. */
function answerAccepted(res: ServerResponse, events: number): void {
  if (res.destroyed) return;
  const body = `{"accepted":${events}}`;
  res.writeHead(202, { "content-type": "application/json", "content-length": body.length });
  res.end(body);
}

function answerFailure(
  res: ServerResponse,
  slug: string,
  error: unknown,
  { bodyBytesMax, logger, createRequestId, onStoreAway }: WebhookOptions,
): PostOutcome {
  if (error instanceof BodyError) {
    if (error.reason === "too_large") answerError(res, bodyTooLarge(bodyBytesMax), 413);
    return error.reason;
  }
  if (isUnavailable(error)) {
    onStoreAway(error);
    answerError(res, storeUnavailable(), undefined, { "retry-after": "5" });
    return "unavailable";
  }
  const requestId = createRequestId();
  logger.error({ err: error, requestId, toolkitSlug: slug }, "post failed");
  answerError(res, internalFault(requestId), undefined, { "x-request-id": requestId });
  return "failed";
}
