import type { AppRequest } from "@svc/connections";
import type { Clock, Turns } from "@svc/core";
import { type CallResult, resultOf } from "../../outcome.ts";
import type { CallWay, PreparedCall } from "../prepare/prepared-call.ts";
import type { Ledger, LedgerEntry } from "../record/ledger.ts";
import { createRedactor, credentialsOf, type Redactor } from "../redact/redact.ts";
import { redactTextsInTurns } from "../redact/redact-texts.ts";
import type { ReadResult } from "./read-answer.ts";
import { callTimeoutMs, sendCall } from "./send.ts";

/** Objects and callbacks that are needed to execute a call, that is, to send it and to record its outcome. */
export type ExecuteContext = {
  readonly ledger: Pick<Ledger, "end">;
  readonly clock: Clock;
  /**
   * Gives other work a turn. The processing of a large answer waits for a turn repeatedly. The answer to a call for a row of a job is
   * processed in spare time.
   */
  readonly turns: Pick<Turns, "next" | "spare">;
  /** Called if a call was executed and its outcome could not be recorded. */
  readonly onUnrecorded: (callId: string, error: unknown) => void;
};

/** Options for executing a tool call. */
export type ExecuteOptions = {
  /** True if the app gets the same idempotency key when the caller repeats the call. */
  readonly keepsAppKey: boolean;
  /** Maximum duration of the call in milliseconds. Default and maximum: 30 s. */
  readonly timeoutMs?: number | undefined;
  /** True if the caller takes images of the answer. Default: the result has a warning in their place. */
  readonly takesImages?: boolean | undefined;
  /** Called before the request is sent a second time. Resolves to false if a call limit allows no second request. */
  readonly mayRepeat?: (() => Promise<boolean>) | undefined;
  /** Sends the result to the project's hooks (URLs that svc asks), and resolves to the result as they changed it. Never rejects. */
  readonly review?: ((result: CallResult) => Promise<CallResult>) | undefined;
};

type Execution = {
  readonly options: ExecuteOptions;
  readonly entry: LedgerEntry;
  readonly prepared: PreparedCall;
  /** The credentials that the request contained, in every form in which they were sent (for example also encoded in a header). */
  readonly credentials: Set<string>;
};

/**
 * Sends a prepared call, records its outcome and returns the result. Rejects only before sending, if the credential cannot be read. After
 * sending, it always returns a result, with a warning if the ledger (record of calls) cannot be written.
 */
export async function executeCall(
  context: ExecuteContext,
  entry: LedgerEntry,
  prepared: PreparedCall,
  options: ExecuteOptions,
): Promise<CallResult> {
  const { clock, ledger } = context;
  const { account, way } = prepared;
  const execution = { options, entry, prepared, credentials: new Set<string>() };
  const authorized = await authorizeOrEnd(context, execution);
  const startedAt = clock.now();
  const { source, ...read } = await ("kind" in authorized
    ? unauthorized(authorized)
    : sendAuthorized(context, execution, authorized));
  const redact = redactorOf(execution);
  const turn = () => context.turns.next(entry.caller.projectId);
  const value = await redactTextsInTurns(read.value, redact, { turn, source });
  const redacted = value === read.value ? read : { ...read, value };
  const providerMs = clock.now() - startedAt;
  // Hooks see no images, so the caller of a result that hooks review gets none.
  const stored = options.review === undefined ? withoutImages(redacted) : await options.review(withoutImages(redacted));
  const result = options.takesImages && options.review === undefined ? redacted : stored;
  const { isSandbox } = way;
  const end = { result: stored, accountId: account?.id, isSandbox, providerMs, redact };
  try {
    await ledger.end(entry, end, { bindsKey: bindsKey(prepared, result) });
    return result;
  } catch (error) {
    // The error is only reported, because the call was executed. If svc reported a failure to the caller, the caller might make the call
    // again.
    context.onUnrecorded(entry.id, error);
    const warning = "unrecorded: the ledger could not be written; this call may read as unknown there";
    return { ...result, warnings: [...result.warnings, warning] };
  }
}

/** Returns a result with a warning in place of its images. */
function withoutImages(full: CallResult): CallResult {
  if (full.images === undefined) return full;
  const { images, ...result } = full;
  const shown = images.map(({ mimeType, bytes }) => `${mimeType} (${bytes} bytes)`).join(", ");
  const warning = `left_out: only an agent gets the images of a result, in its answer over MCP: ${shown}`;
  return { ...result, warnings: [...result.warnings, warning] };
}

/**
 * Returns the redactor, which removes secrets from the answer of a call. In the sandbox, it does not remove the credential and the
 * project's secrets. There they are placeholders made of common words, and no app got a real value.
 */
function redactorOf({ prepared, credentials }: Execution): Redactor {
  return createRedactor([...prepared.vaulted, ...(prepared.way.isSandbox ? [] : credentials)]);
}

type Authorized = Awaited<ReturnType<CallWay["authorize"]>>;

function unauthorized({ kind, message }: Exclude<Authorized, AppRequest>): ReadResult {
  return resultOf({ outcome: kind, message });
}

/**
 * Returns the request of a tool call with the account's credential. If the credential cannot be read, ends the call before it throws.
 * Otherwise the call would have an unknown outcome and keep its idempotency key, although nothing was sent.
 */
async function authorizeOrEnd(context: ExecuteContext, { entry, prepared }: Execution): Promise<Authorized> {
  const { account, way } = prepared;
  try {
    return await way.authorize();
  } catch (error) {
    const message = "the account's credential could not be read; nothing was sent";
    const result = resultOf({ outcome: "unreachable", retryable: true, message });
    const end = { result, accountId: account?.id, isSandbox: way.isSandbox, providerMs: 0 };
    await context.ledger.end(entry, end, { bindsKey: false }).catch(() => {
      // If ending the call also fails, that error is ignored. The caller gets the first error, which has the same cause.
    });
    throw error;
  }
}

async function sendAuthorized(
  context: ExecuteContext,
  execution: Execution,
  authorized: AppRequest,
): Promise<ReadResult> {
  const { action, account, way } = execution.prepared;
  const untilMs = context.clock.now() + Math.min(execution.options.timeoutMs ?? callTimeoutMs, callTimeoutMs);
  const first = await sendOnce(context, execution, { authorized, untilMs });
  if (first.providerStatus !== 401 || account === undefined) return noted(way, first);
  const isRenewed = await renew(execution.prepared);
  // After a 401, the app has executed nothing. A read is sent again with the renewed credential. svc does not send a write twice; the
  // caller decides.
  if (isRenewed && action.class === "read") {
    const again = await authorizeAgain(execution.prepared);
    const { mayRepeat } = execution.options;
    const isAllowed = mayRepeat === undefined || (await mayRepeat().catch(() => false));
    if (again !== undefined && isAllowed && context.clock.now() < untilMs) {
      const second = await sendOnce(context, execution, { authorized: again, untilMs });
      if (second.providerStatus !== 401) return noted(way, second);
    }
  }
  const advice = isRenewed ? "its token has been renewed: send the call again" : "connect the account again";
  return {
    ...first,
    outcome: "account_unusable",
    retryable: isRenewed,
    message: `the app refused the credential of ${account.id}; ${advice}`,
  };
}

/**
 * Returns the result of a call. It first records at the account that the app accepted the credential, or which scopes it lacked. If the
 * database is unavailable, only this record is lost.
 */
async function noted(way: CallWay, read: ReadResult): Promise<ReadResult> {
  if (read.outcome === "ok") await way.taken().catch(() => undefined);
  if (read.lackedScopes === undefined) return read;
  const { lackedScopes, ...result } = read;
  await way.lacked(lackedScopes).catch(() => undefined);
  return result;
}

/**
 * Returns true if the credential was renewed, so that the request can be sent again. Returns false if not, also if the database is
 * unavailable. The app's first answer is then the result.
 */
async function renew({ way }: PreparedCall): Promise<boolean> {
  return way.refused().catch(() => false);
}

async function authorizeAgain({ way }: PreparedCall): Promise<AppRequest | undefined> {
  const authorized = await way.authorize().catch(() => undefined);
  return authorized === undefined || "kind" in authorized ? undefined : authorized;
}

function sendOnce(
  context: ExecuteContext,
  { entry, prepared, options, credentials }: Execution,
  { authorized, untilMs }: { authorized: AppRequest; untilMs: number },
): Promise<ReadResult> {
  const { action, toolkit, account, secrets, vaulted, request, way } = prepared;
  const { entityId = "", scheme = "none" } = account ?? {};
  const { projectId } = entry.caller;
  // Only calls for rows of a job commit their records together with the job.
  const isRow = entry.job?.takeRecord !== undefined;
  for (const form of credentialsOf(request, authorized)) credentials.add(form);
  return sendCall(
    { transport: way.transport, clock: context.clock },
    {
      request: authorized,
      call: { projectId, toolkit, action, entityId, scheme, accountId: account?.id },
      repeatsAreSafe: action.class === "read" || repeatsItsKey(prepared, entry, options.keepsAppKey),
      untilMs,
      mayRepeat: options.mayRepeat,
      redact: createRedactor([...secrets, ...vaulted, ...credentials]),
      turns: {
        begin: () => (isRow ? context.turns.spare(projectId) : undefined),
        next: () => context.turns.next(projectId),
      },
    },
  );
}

/**
 * True if a write that the caller repeats reaches the app with the same idempotency key as before, so that the app recognizes it. False if
 * svc recognizes the repeat itself, by the caller's idempotency key.
 */
function repeatsItsKey({ action }: PreparedCall, { args, idempotencyKey }: LedgerEntry, keepsAppKey: boolean): boolean {
  if (action.idempotency === undefined || idempotencyKey !== undefined) return false;
  const { argument } = action.idempotency;
  return keepsAppKey || (argument !== undefined && args[argument] !== undefined);
}

/**
 * True if the idempotency key of the call cannot be used for another call after this outcome, because the call was executed or may have
 * been. False if the call may be made again with the key.
 */
function bindsKey({ action }: PreparedCall, { outcome, providerStatus }: CallResult): boolean {
  if (outcome === "ok" || outcome === "outcome_unknown") return true;
  // A 4xx status means that the app changed nothing. The idempotency key is then free, so that the call can be made again with the same
  // key.
  return outcome === "provider_error" && action.class !== "read" && !(providerStatus >= 400 && providerStatus < 500);
}
