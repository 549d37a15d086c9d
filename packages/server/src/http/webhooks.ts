import type { IncomingMessage, ServerResponse } from "node:http";
import { acceptedEncodings, assertExhaustive, isReadableForm } from "@svc/core";
import type { AdmittedPost, InboundPost, IngestOutcome, PostAdmission } from "@svc/node";
import { BodyError, readBody } from "../body/body.ts";
import { bodyFault, type Intake } from "../body/intake.ts";
import { serverFaults } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { isStoreUnavailable, type StoreAlarm, storeDeadlineMs, withinDeadline } from "../store-deadline.ts";
import { answerError, answerJson, retryHeaders } from "./answer.ts";

/** What takes posts: the ingest engine of packages/triggers. */
export type PostReceiver = {
  /** An answer that needs no body, or that the post is to be read and accepted. */
  admit(toolkitSlug: string, query: URLSearchParams): PostAdmission;
  /** Rejects when the store is away. */
  accept(post: InboundPost, admitted: AdmittedPost): Promise<IngestOutcome>;
};

/** What became of a post, for the metrics. */
export type PostOutcome = IngestOutcome["outcome"] | "malformed" | "aborted" | "failed";

/** How posts are served. */
export type WebhookOptions = {
  ingest: PostReceiver;
  intake: Intake;
  bodyBytesMax: number;
  /** How long a post waits for the store, from its body's end, milliseconds. Default 15 s. */
  deadlineMs?: number;
  createRequestId: () => string;
  logger: Logger;
  onStoreUnavailable: StoreAlarm;
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
  const { ingest, intake, bodyBytesMax, onPost, deadlineMs = storeDeadlineMs } = options;
  const receiving: ReceivedPost = { ingest, intake, bodyBytesMax, deadlineMs };
  return (path, query, req, res) => {
    const slug = path.slice(webhookPrefix.length);
    if (!slugPattern.test(slug)) return answerError(res, serverFaults.CALL_UNKNOWN(path), 404);
    if (req.method !== "POST")
      return answerError(res, serverFaults.METHOD_NOT_ALLOWED(req.method ?? "", "POST"), 405, { allow: "POST" });
    // Its bytes would be replaced, and two keys in it become one.
    if (!isReadableForm(query)) {
      onPost("", "malformed");
      return answerError(res, serverFaults.QUERY_MALFORMED());
    }
    const parsed = query === "" ? noQuery : new URLSearchParams(query);
    const admission = ingest.admit(slug, parsed);
    if (admission.outcome !== "admitted") {
      onPost(admission.outcome === "unknown_toolkit" ? "" : slug, admission.outcome);
      return answerOutcome(res, slug, admission, bodyBytesMax);
    }
    receive(admission, slug, parsed, req, receiving).then(
      (outcome) => {
        // Whoever sent it holds the toolkit's secret.
        if (outcome.outcome === "accepted") intake.noteKey(req);
        onPost(slug, outcome.outcome);
        answerOutcome(res, slug, outcome, bodyBytesMax);
      },
      (error: unknown) => onPost(slug, answerFailure(res, slug, error, options)),
    );
  };
}

type ReceivedPost = { ingest: PostReceiver; intake: Intake; bodyBytesMax: number; deadlineMs: number };

/**
 * A post that is answered at its deadline may still be committed later: the provider sends it again, and de-duplication
 * tells the two to be one. Its body is held, and counted, until the engine lets go of it.
 */
async function receive(
  admitted: AdmittedPost,
  slug: string,
  query: URLSearchParams,
  req: IncomingMessage,
  { ingest, intake, bodyBytesMax, deadlineMs }: ReceivedPost,
): Promise<IngestOutcome> {
  const charge = intake.charge(req, `toolkit:${slug}`);
  const body = await readBody(req, bodyBytesMax, charge);
  const accepting = ingest.accept({ toolkitSlug: slug, headers: headersOf(req), query, body }, admitted);
  const letGo = () => charge.release();
  accepting.then(letGo, letGo);
  return withinDeadline(accepting, deadlineMs);
}

/** Node joins repeated headers itself, all but set-cookie, which no provider sends. */
function headersOf(req: IncomingMessage): Record<string, string> {
  const { headers } = req;
  if (headers["set-cookie"] !== undefined) delete headers["set-cookie"];
  return headers as Record<string, string>;
}

function answerOutcome(res: ServerResponse, slug: string, outcome: IngestOutcome, bodyBytesMax: number): void {
  switch (outcome.outcome) {
    case "accepted":
      // How many projects there are is nobody's business but the deployment's.
      answerAccepted(res, 1);
      break;
    case "ignored":
    case "quarantined":
      answerAccepted(res, 0);
      break;
    case "challenge":
      answerJson(res, 200, JSON.stringify({ challenge: outcome.challenge }));
      break;
    case "over_quota":
      answerError(res, outcome.refusal);
      break;
    case "unknown_toolkit":
      answerError(res, serverFaults.WEBHOOK_UNKNOWN(slug));
      break;
    case "secret_unset":
      answerError(res, serverFaults.WEBHOOK_SECRET_UNSET(outcome.secretEnv));
      break;
    case "unverified":
      answerError(res, serverFaults.WEBHOOK_UNVERIFIED());
      break;
    case "encoding_unsupported":
      answerError(res, serverFaults.CONTENT_ENCODING_UNSUPPORTED(outcome.encoding), 415, {
        "accept-encoding": acceptedEncodings,
      });
      break;
    case "too_large":
      answerError(res, serverFaults.BODY_TOO_LARGE(bodyBytesMax), 413);
      break;
    case "unavailable":
      answerError(res, serverFaults.NODE_OVERLOADED(), undefined, retryHeaders);
      break;
    default:
      assertExhaustive(outcome);
  }
}

/** The hot answer. With its length stated, head and body leave in one write; without, Node would send it in chunks. */
function answerAccepted(res: ServerResponse, events: 0 | 1): void {
  if (res.destroyed) return;
  const body = `{"accepted":${events}}`;
  res.writeHead(202, { "content-type": "application/json", "content-length": body.length });
  res.end(body);
}

function answerFailure(
  res: ServerResponse,
  slug: string,
  error: unknown,
  { bodyBytesMax, logger, createRequestId, onStoreUnavailable }: WebhookOptions,
): PostOutcome {
  if (error instanceof BodyError) {
    const refusal = bodyFault(error, bodyBytesMax);
    if (error.reason === "too_large") answerError(res, refusal, 413);
    if (error.reason === "too_large" || error.reason === "aborted") return error.reason;
    answerError(res, refusal);
    return error.reason === "no_room" ? "unavailable" : "aborted";
  }
  if (isStoreUnavailable(error)) {
    onStoreUnavailable(error);
    answerError(res, serverFaults.STORE_UNAVAILABLE(), undefined, retryHeaders);
    return "unavailable";
  }
  const requestId = createRequestId();
  logger.error({ err: error, requestId, toolkitSlug: slug }, "post failed");
  answerError(res, serverFaults.INTERNAL(requestId), undefined, { "x-request-id": requestId });
  return "failed";
}
