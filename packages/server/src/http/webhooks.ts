import type { IncomingMessage, ServerResponse } from "node:http";
import {
  acceptedEncodings,
  assertExhaustive,
  beginSpan,
  type Clock,
  createMinuteCount,
  isCell,
  isReadableForm,
  isTraced,
  parseId,
  type SpanStart,
  withinSpan,
} from "@svc/core";
import type {
  AdmittedPost,
  Greeting,
  InboundPost,
  IngestOutcome,
  PostAdmission,
  PostHead,
  PrivatePostHead,
} from "@svc/node";
import { BodyError, readBody } from "../body/body.ts";
import { bodyFault, type Intake } from "../body/intake.ts";
import { serverFaults } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { traceOf } from "../rpc/call.ts";
import { isStoreUnavailable, type StoreAlarm, storeDeadlineMs, withinDeadline } from "../store-deadline.ts";
import { answerError, answerJson, retryHeaders } from "./answer.ts";

/** Receives webhook posts: the ingest engine of packages/triggers. */
export type PostReceiver = {
  /**
   * Decides about a webhook post to a shared toolkit (an app of all projects) before its body is read. Returns an answer, or admits the
   * post, and the caller then reads the body and calls `accept`.
   */
  admit(toolkitSlug: string, query: URLSearchParams, headers: InboundPost["headers"]): PostAdmission;
  /** Decides if the body of a webhook post to a private toolkit (a toolkit that one project has published) may be read. */
  admitPrivate(post: PrivatePostHead): PostAdmission | Promise<PostAdmission>;
  /**
   * Returns the response to a request at a webhook path whose method is not POST, such as the GET request with which some apps verify the
   * address.
   */
  greet(method: string, request: PostHead): Greeting;
  greetPrivate(method: string, request: PrivatePostHead): Greeting | Promise<Greeting>;
  /** Returns the outcome of a webhook post. Rejects if the database is unavailable. */
  accept(post: InboundPost, admitted: AdmittedPost): Promise<IngestOutcome>;
};

/** Outcome of a webhook post, for metrics. */
export type PostOutcome = IngestOutcome["outcome"] | "malformed" | "aborted" | "failed";

/** Dependencies of the handler of webhook posts. */
export type WebhookOptions = {
  ingest: PostReceiver;
  intake: Intake;
  bodyBytesMax: number;
  /** Name of the deployment's cell; undefined if the deployment is not a cell. */
  cell?: string | undefined;
  /** Maximum time that a webhook post waits for the database after its body has arrived, in milliseconds. Default 15 s. */
  deadlineMs?: number;
  clock: Clock;
  createRequestId: () => string;
  logger: Logger;
  onStoreUnavailable: StoreAlarm;
  /**
   * Called for each webhook post when its answer is decided, for the metrics. `durationMs`: time since its arrival. `toolkitSlug` is empty
   * if the toolkit (app) is unknown. It is `private` for a private toolkit (defined by one project), so that names chosen by projects do not
   * appear in metrics.
   */
  onPost: (toolkitSlug: string, outcome: PostOutcome, durationMs: number) => void;
};

/**
 * Serves one webhook post to `/webhooks/<slug>` or `/webhooks/<project id>/<slug>`. The name of a cell (one of several deployments behind
 * one address) may precede the slug or the project id. `query`: the query of the address, which may contain a secret.
 */
export type WebhookHandler = (path: string, query: string, req: IncomingMessage, res: ServerResponse) => void;

/**
 * Prefix of the paths to which apps post webhooks: `/webhooks/<toolkit>`. The path of a private toolkit is `/webhooks/<project
 * id>/<toolkit>`.
 */
export const webhookPrefix = "/webhooks/";

const slugPattern = /^[a-z0-9_-]{1,100}$/;
const noQuery = new URLSearchParams();

/** Creates the handler of inbound webhook posts. */
export function createWebhookHandler(options: WebhookOptions): WebhookHandler {
  const { ingest, intake, bodyBytesMax, onPost, deadlineMs = storeDeadlineMs } = options;
  const receiving: ReceivedPost = { ingest, intake, bodyBytesMax, deadlineMs };
  const beyondMinute = createMinuteCount({ clock: options.clock, most: 1 });
  // The sender does not learn which rule its post breaks. The operator does, once a minute for each toolkit: strangers can post, too.
  const logRefusal = (outcome: IngestOutcome, { toolkitSlug, projectId }: PostHead) => {
    if (outcome.outcome !== "unverified" || outcome.why === undefined) return;
    if (beyondMinute(`${projectId ?? ""}/${toolkitSlug}`) !== undefined) return;
    options.logger.warn(
      { toolkit: toolkitSlug, projectId, why: outcome.why() },
      "a post is refused, because its sender is not proven",
    );
  };
  return (path, query, req, res) => {
    const place = placeOf(path, options.cell);
    if (place === undefined) return answerError(res, serverFaults.CALL_UNKNOWN(path), 404);
    const method = req.method ?? "";
    const startedMs = performance.now();
    // Bytes that are not text would be replaced, so two different keys in the query could become equal.
    if (!isReadableForm(query)) {
      onPost("", "malformed", performance.now() - startedMs);
      return answerError(res, serverFaults.QUERY_MALFORMED());
    }
    const parsed = query === "" ? noQuery : new URLSearchParams(query);
    const target = query === "" ? path : `${path}?${query}`;
    const { toolkitSlug, projectId } = place;
    const post = { toolkitSlug, headers: headersOf(req), query: parsed, target };
    const head: PostHead = projectId === undefined ? post : { ...post, projectId };
    const label = projectId === undefined ? toolkitSlug : "private";
    const span = method === "POST" && isTraced() ? beginSpan(postSpan, { req, label }) : undefined;
    const report = (toolkit: string, outcome: PostOutcome) => {
      const durationMs = performance.now() - startedMs;
      if (span === undefined) return onPost(toolkit, outcome, durationMs);
      span.end(outcome === "accepted" ? undefined : outcome);
      withinSpan(span, () => onPost(toolkit, outcome, durationMs));
    };
    const fail = (error: unknown) => report(label, answerFailure(res, label, error, options));
    if (method !== "POST") {
      const greeting =
        projectId === undefined ? ingest.greet(method, post) : ingest.greetPrivate(method, { ...post, projectId });
      const other = { method, head, label, startedMs };
      if (!(greeting instanceof Promise)) return answerOther(greeting, other, res, options);
      intake.keepBack(req, greeting).then((answer) => answerOther(answer, other, res, options), fail);
      return;
    }
    const proceed = (admission: PostAdmission) => {
      if (admission.outcome !== "admitted") {
        report(admission.outcome === "unknown_toolkit" ? "" : label, admission.outcome);
        logRefusal(admission, head);
        return answerOutcome(res, head, admission, bodyBytesMax);
      }
      withinSpan(span, () => receive(admission, head, req, receiving)).then((outcome) => {
        // The sender has the toolkit's secret, so it counts as a sender with a key.
        if (outcome.outcome === "accepted") intake.noteKey(req);
        report(label, outcome.outcome);
        logRefusal(outcome, head);
        answerOutcome(res, head, outcome, bodyBytesMax);
      }, fail);
    };
    const admission =
      projectId === undefined
        ? ingest.admit(toolkitSlug, parsed, post.headers)
        : ingest.admitPrivate({ ...post, projectId });
    if (!(admission instanceof Promise)) return proceed(admission);
    intake.keepBack(req, withinDeadline(admission, deadlineMs)).then(proceed, fail);
  };
}

/**
 * Describes the span of a post. The sender is not proven yet, so its trace is only linked: it must not decide if svc samples the post.
 * `label`: as in the metrics.
 */
function postSpan({ req, label }: { readonly req: IncomingMessage; readonly label: string }): SpanStart {
  const facts = { "http.request.method": "POST", "http.route": "/webhooks/{toolkit}", "svc.toolkit": label };
  return { name: "post", kind: "server", parent: null, links: [traceOf(req)], facts };
}

/**
 * Returns the toolkit (app) that the path of a webhook post names, and its project for a private toolkit (defined by a project). Undefined
 * if the path does not have the form of such a path. `cell`: the own cell, which a path may name. The path of a private toolkit may name
 * any cell, because its project may have moved.
 */
function placeOf(path: string, cell: string | undefined): Pick<PostHead, "toolkitSlug" | "projectId"> | undefined {
  const place = withoutCell(path.slice(webhookPrefix.length), cell);
  const slash = place.indexOf("/");
  const toolkitSlug = place.slice(slash + 1);
  if (!slugPattern.test(toolkitSlug)) return undefined;
  if (slash < 0) return { toolkitSlug };
  const projectId = parseId("prj", place.slice(0, slash));
  return projectId && { toolkitSlug, projectId };
}

/** Returns the path of a webhook without the cell that it names. Without a cell of its own, a deployment accepts no path with a cell. */
function withoutCell(place: string, own: string | undefined): string {
  const named = place.slice(0, Math.max(0, place.indexOf("/")));
  if (own === undefined || !isCell(named)) return place;
  const rest = place.slice(named.length + 1);
  return named === own || rest.includes("/") ? rest : place;
}

type OtherRequest = {
  readonly method: string;
  readonly head: PostHead;
  readonly label: string;
  readonly startedMs: number;
};

/** Answers a request with a method other than POST: a handshake (check of the webhook URL by the app), or a refusal of the method. */
function answerOther(
  outcome: Greeting,
  { method, head, label, startedMs }: OtherRequest,
  res: ServerResponse,
  { bodyBytesMax, onPost }: WebhookOptions,
): void {
  if (outcome.outcome === "no_handshake") {
    const allow = outcome.methods.join(", ");
    answerError(res, serverFaults.METHOD_NOT_ALLOWED(method, allow), 405, { allow });
    return;
  }
  onPost(label, outcome.outcome, performance.now() - startedMs);
  answerOutcome(res, head, outcome, bodyBytesMax);
}

type ReceivedPost = { ingest: PostReceiver; intake: Intake; bodyBytesMax: number; deadlineMs: number };

/**
 * Receives a webhook post and returns its outcome. If the deadline passes first, the post may still be stored later. The provider then
 * sends the post a second time, and svc recognizes it as a duplicate. The memory of the body is charged to the memory budget until the
 * ingest engine releases it.
 */
async function receive(
  admitted: AdmittedPost,
  head: PostHead,
  req: IncomingMessage,
  { ingest, intake, bodyBytesMax, deadlineMs }: ReceivedPost,
): Promise<IngestOutcome> {
  const { toolkitSlug, projectId } = head;
  const charge = intake.charge(req, projectId === undefined ? `toolkit:${toolkitSlug}` : `project:${projectId}`);
  const body = await readBody(req, bodyBytesMax, charge);
  const accepting = ingest.accept({ ...head, body }, admitted);
  const letGo = () => charge.release();
  accepting.then(letGo, letGo);
  return withinDeadline(accepting, deadlineMs);
}

/** Returns the headers of a webhook post. Node joins repeated headers itself, except set-cookie, which no provider sends. */
function headersOf(req: IncomingMessage): Record<string, string> {
  const { headers } = req;
  if (headers["set-cookie"] !== undefined) delete headers["set-cookie"];
  return headers as Record<string, string>;
}

function answerOutcome(
  res: ServerResponse,
  { toolkitSlug, projectId }: PostHead,
  outcome: IngestOutcome,
  bodyBytesMax: number,
): void {
  switch (outcome.outcome) {
    case "accepted":
      // The answer contains the number of posts, or of elements if the post is a list. It does not contain the number of projects that
      // receive the post, because the sender must not learn it.
      answerAccepted(res, outcome.items ?? 1);
      break;
    case "ignored":
    case "quarantined":
      answerAccepted(res, 0);
      break;
    case "challenge":
      answerHandshake(res, outcome.answer);
      break;
    case "over_quota":
      answerError(res, outcome.refusal);
      break;
    case "unknown_toolkit":
      answerError(
        res,
        serverFaults.WEBHOOK_UNKNOWN(projectId === undefined ? toolkitSlug : `${projectId}/${toolkitSlug}`),
      );
      break;
    case "secret_unset":
      answerError(res, serverFaults.WEBHOOK_SECRET_UNSET(outcome.secretEnv));
      break;
    case "not_ready":
      answerError(res, serverFaults.WEBHOOK_NOT_READY(outcome.fault, projectId !== undefined), undefined, retryHeaders);
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

/**
 * Answers the request with which an app verifies a webhook address (handshake). The header `nosniff` forbids browsers to guess the content
 * type, so that they never show the answered text as a page.
 */
function answerHandshake(
  res: ServerResponse,
  { status, contentType, body }: Extract<IngestOutcome, { outcome: "challenge" }>["answer"],
): void {
  const isText = contentType !== "application/json";
  const headers = isText ? { "x-content-type-options": "nosniff" } : {};
  answerJson(res, status, body, { ...headers, ...(isText && { "content-type": contentType || "text/plain" }) });
}

/**
 * Answers an accepted webhook post, which is the most frequent answer. With a content length, Node writes head and body together. Without
 * it, Node would send the body in chunks.
 */
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
