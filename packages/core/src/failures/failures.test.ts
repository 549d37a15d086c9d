import { expect, test } from "vitest";
import { readAppError, rowErrorText, withoutValues } from "./app-error.ts";
import { callFailure } from "./call-failure.ts";
import { deliveryFailure } from "./delivery-failure.ts";
import { refusedRunFailure } from "./failure.ts";
import { type ExplainedJob, type FailedStep, jobFailure, stepErrorFailure, stepToExplain } from "./job-failure.ts";

const atMs = Date.UTC(2026, 10, 30, 15, 16);

function called(outcome: string, message = "", changes: object = {}) {
  const base = { id: "call_1", toolSlug: "messaging_bot.send_message", entityId: "ada", stepId: "", jobId: null };
  return callFailure({ ...base, outcome, message, providerStatus: 0, createdAt: atMs, ...changes });
}

const chatNotFound = '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}';

// The sentence and the actions of each outcome of a call.
test.each([
  [
    "provider_error",
    `the app answered 400: ${chatNotFound}`,
    'Messaging bot refused the call: "Bad Request: chat not found"',
    ["edit_arguments", "retry_call"],
  ],
  [
    "provider_error",
    "the app answered an error: not yours",
    'Messaging bot refused the call: "not yours"',
    ["edit_arguments", "retry_call"],
  ],
  [
    "provider_error",
    "the app answered 404",
    "Messaging bot refused the call and gave no reason (404)",
    ["edit_arguments", "retry_call"],
  ],
  [
    "provider_error",
    "provider_error: the app answered 200",
    "Messaging bot refused the call and gave no reason",
    ["edit_arguments", "retry_call"],
  ],
  [
    "provider_error",
    "the app answered 200, but its answer reports an error",
    "Messaging bot refused the call and gave no reason",
    ["edit_arguments", "retry_call"],
  ],
  [
    "provider_error",
    "the app answered 502: <html><title>Bad Gateway</title>",
    'Messaging bot had a problem (502): "Bad Gateway"',
    ["retry_call"],
  ],
  [
    "provider_error",
    "the app answered 200 with more than 8 MiB; the rest is cut off; ask it for less",
    "svc could not read the answer of Messaging bot, which came with more than 8 MiB; the rest is cut off; ask it for less",
    ["edit_arguments", "retry_call"],
  ],
  ["timeout", "no answer within 30000 ms", "Messaging bot did not answer within 30 s", ["retry_call"]],
  ["unreachable", "connection refused", "svc could not reach Messaging bot: connection refused", ["retry_call"]],
  ["rate_limited", "the app accepts no more calls for now (429)", "Messaging bot asked to slow down", ["retry_call"]],
  [
    "account_unusable",
    "the app refused the credential of acc_1; connect the account again",
    "The Messaging bot account of ada has expired or was refused",
    ["reconnect_account", "retry_call"],
  ],
  [
    "missing_scope",
    "the app wants chat:write",
    "The Messaging bot account of ada lacks a permission that the tool needs",
    ["reconnect_account", "retry_call"],
  ],
  [
    "no_account",
    'entity "ada" has no active account',
    "ada has no Messaging bot account",
    ["connect_account", "retry_call"],
  ],
  [
    "invalid_arguments",
    "1 problem in the arguments: /chat_id must be a text, and is 5",
    "chat_id of messaging_bot.send_message must be a text, and is 5",
    ["edit_arguments"],
  ],
  [
    "not_callable",
    "it is a trigger",
    "messaging_bot.send_message cannot be called: it is a trigger",
    ["edit_arguments"],
  ],
  [
    "not_bound",
    "provider_base_url is missing",
    "messaging_bot.send_message cannot be called: provider_base_url is missing",
    [],
  ],
  [
    "outcome_unknown",
    "the call was sent and its answer never came",
    "svc cannot know if Messaging bot received the write",
    ["check_app"],
  ],
] as const)("a call with the outcome %s is explained: %s", (outcome, message, title, remedies) => {
  const failure = called(outcome, message);
  expect([failure?.title, failure?.remedies]).toEqual([title, remedies]);
  expect(failure).toMatchObject({ code: outcome, callId: "call_1", entityId: "ada", atMs });
  expect(failure?.title).not.toMatch(/the app answered 200/i);
});

test.each(["ok", "running", "held"])("a call that is %s has no failure", (outcome) => {
  expect(called(outcome)).toBeUndefined();
});

test("the words and the code of an app are found in the usual forms of errors", () => {
  const read = (body: unknown) => readAppError(`the app answered 422: ${JSON.stringify(body)}`);
  expect(read({ error: { code: "invalid_email", message: "No such address" } })).toMatchObject({
    code: "invalid_email",
    words: "No such address",
  });
  expect(read({ errors: [{ message: "not yours", extensions: {} }] })).toMatchObject({ code: "", words: "not yours" });
  expect(read({ error: "invalid_grant", error_description: "It has expired" })).toMatchObject({
    code: "invalid_grant",
    words: "It has expired",
  });
  expect(read({ ok: false, error: "channel_not_found" })).toMatchObject({
    code: "channel_not_found",
    words: "channel_not_found",
  });
  expect(read({ title: "Conflict", detail: "It exists", status: 409 })).toMatchObject({ words: "It exists" });
  expect(read([])).toMatchObject({ status: 422, words: "", code: "" });
  // A long body is cut off in the message, so it is not JSON any more.
  expect(readAppError('the app answered 500: {"id":1,"message":"out of \\"room\\"","more":[1,2 ...')?.words).toContain(
    "out of ",
  );
  expect(readAppError("the call was sent and its answer never came")).toBeUndefined();
  expect(called("provider_error", `the app answered 500: ${"x".repeat(3_000)}`)?.appMessage.length).toBeLessThanOrEqual(
    500,
  );
});

test("an app's words about a row leave the job without the values of the row", () => {
  const args = { chat_id: "@team", text: "Hello Ada", tags: ["private"] };
  const text = (message: string) => rowErrorText(message, args);
  expect(text(`the app answered 400: ${chatNotFound}`)).toBe("the app answered 400: Bad Request: chat not found");
  expect(text('the app answered 400: {"message":"cannot send Hello Ada to 12345 (private) as ada@example.com"}')).toBe(
    "the app answered 400: cannot send *** to *** (***) as ***",
  );
  expect(text('the app answered an error: no "secret plan" here')).toBe("the app answered an error: no *** here");
  expect(text("the app answered 404")).toBeUndefined();
  expect(text("the app answered 200 with a body that cannot be read as JSON: {private")).toBeUndefined();
});

test("failures with the same cause have the same fingerprint, whatever the numbers, ids and quoted values", () => {
  const of = (words: string, changes: object = {}) =>
    called("provider_error", `the app answered 404: ${words}`, changes)?.fingerprint;
  expect(of("no deal 12")).toMatch(/^[0-9a-f]{32}$/);
  expect(of('No deal 13, "Blue"')).toBe(of('no deal 99, "Red"'));
  expect(of("no deal 12")).not.toBe(of("no person 12"));
  expect(of("no deal 12")).not.toBe(of("no deal 12", { toolSlug: "sales_crm.get_deal" }));
  expect(of("no deal 12")).toBe(of("no deal 12", { entityId: "bob", id: "call_2" }));
  expect(withoutValues("the key 'a b' isn't known at https://x.example/1")).toBe("the key *** isn't known at ***");
});

function send(error: string, changes: object = {}) {
  return deliveryFailure({ subscriptionId: "sub_1", error, atMs, state: "pending", ...changes });
}

test.each([
  [
    "http_500",
    { responseBody: "\n  Out of memory\nat line 1" },
    'Your endpoint answered 500 "Out of memory"',
    ["try_endpoint_now", "repair_endpoint"],
  ],
  [
    "http_503",
    { failingSince: atMs },
    "Your endpoint answers 503 to everything since 2026-11-30T15:16:00.000Z",
    ["try_endpoint_now", "repair_endpoint"],
  ],
  ["http_410", { state: "dead_letter" }, "Your endpoint answered 410", ["resend_delivery", "repair_endpoint"]],
  ["timeout", {}, "Your endpoint did not answer in time", ["try_endpoint_now", "repair_endpoint"]],
  ["dns_not_found", {}, "The host name of your endpoint does not exist", ["try_endpoint_now", "edit_subscription"]],
  [
    "auth_failed: the token endpoint answered 401",
    {},
    "svc could not get an access token for your endpoint: the token endpoint answered 401",
    ["try_endpoint_now", "edit_subscription"],
  ],
  [
    "subscription_inactive",
    { state: "dead_letter" },
    "The subscription was turned off or deleted before the delivery succeeded",
    ["resume"],
  ],
  ["odd_code", {}, "The delivery failed (odd_code)", ["try_endpoint_now", "repair_endpoint"]],
] as const)("a delivery with the error %s is explained", (error, changes, title, remedies) => {
  const failure = send(error, changes);
  expect([failure?.title, failure?.remedies]).toEqual([title, remedies]);
  expect(failure).toMatchObject({ subscriptionId: "sub_1", code: error.split(":")[0] });
});

test("a delivery without an error has no failure", () => {
  expect(send("")).toBeUndefined();
});

const step = (changes: Partial<FailedStep>): FailedStep => {
  return {
    stepId: "say",
    kind: "call",
    toolSlug: "messaging_bot.send_message",
    startedAt: atMs,
    errors: [],
    ...changes,
  };
};

function job(lastError: string, changes: Partial<ExplainedJob> = {}) {
  return jobFailure({ status: "failed", lastError, atMs, park: null, ...changes });
}

const rows = { in: 3, failed: 2, unknown: 0 };
const rowError = { code: "provider_error", count: 2, firstOrdinal: 1, sample: "the app answered 400: chat not found" };
const rowsFailed = { code: "ROWS_FAILED", count: 1, firstOrdinal: 0, sample: "2 of 3 rows failed" };

test.each([
  [
    "provider_error: step say: the app answered 400: chat not found",
    { steps: [step({})] },
    'Messaging bot refused the call: "chat not found"',
    ["edit_program", "retry_job"],
  ],
  [
    "ROWS_FAILED: step say: 2 of 3 rows failed",
    { steps: [step({ rows, errors: [rowError, rowsFailed] })] },
    'Messaging bot refused 2 of 3 rows: "chat not found"',
    ["edit_program", "retry_job"],
  ],
  [
    "ROWS_FAILED: step say: 2 of 3 rows failed",
    { steps: [step({ rows, errors: [{ ...rowError, toolSlug: "sales_crm.update_deal" }, rowsFailed] })] },
    'Sales crm refused 2 of 3 rows: "chat not found"',
    ["edit_program", "retry_job"],
  ],
  ["ROWS_FAILED: step say: 2 of 3 rows failed", {}, "2 of 3 rows failed", ["edit_program", "retry_job"]],
  [
    "ROWS_UNKNOWN: step say: 2 of 3 rows are in doubt",
    { steps: [step({ rows: { ...rows, unknown: 2 } })] },
    "svc cannot know if Messaging bot received the writes of 2 of 3 rows",
    ["check_app", "retry_job"],
  ],
  [
    "rate_limited: step say: slow down",
    { steps: [step({ calls: { retried: 4 } })] },
    "Messaging bot asked to slow down, tried 5 times",
    ["retry_job"],
  ],
  ["timeout: step say: no answer", { steps: [step({})] }, "Messaging bot did not answer within 30 s", ["retry_job"]],
  [
    "no_account: step say: none",
    { steps: [step({})], entities: ["ada"] },
    "ada has no Messaging bot account",
    ["connect_account", "retry_job"],
  ],
  [
    "account_unusable: step say: the account cannot be used",
    { steps: [step({})], entities: ["ada"] },
    "The Messaging bot account of ada has expired or was refused",
    ["reconnect_account", "retry_job"],
  ],
  [
    "invalid_arguments: step say: /chat_id must be a text",
    { steps: [step({})] },
    "chat_id of step say must be a text",
    ["edit_program"],
  ],
  [
    "LIMIT_REACHED: step say: the job's limit of 500 toolCalls is reached",
    {},
    "Reached its limit of 500 calls",
    ["raise_limit"],
  ],
  [
    "EXPRESSION_FAILED: step keep: where cannot be computed",
    {},
    "The expression of step keep failed: where cannot be computed",
    ["edit_program"],
  ],
  [
    "FAIL_STEP: step stop: no invoices today",
    {},
    'Step stop ended the job: "no invoices today"',
    ["edit_program", "retry_job"],
  ],
  [
    "PAGE_LIMIT: step list: more than 100 pages",
    {},
    "Step list failed: more than 100 pages",
    ["edit_program", "retry_job"],
  ],
  ["", { status: "expired", deadlineSeconds: 86_400 }, "Not done within 24 h", ["retry_job", "raise_limit"]],
  ["", { status: "rejected" }, "A person did not approve the program", ["edit_program"]],
  [
    "",
    {
      status: "aborted",
      steps: [step({ kind: "judge", decision: { continuation: "abort", principalId: "", at: atMs + 3 * 86_400_000 } })],
    },
    "No answer came for 3 days at step say",
    ["ask_again"],
  ],
  [
    "",
    { status: "aborted", steps: [step({ decision: { continuation: "abort", principalId: "lead", at: atMs } })] },
    "lead stopped the job at step say",
    ["retry_job"],
  ],
  [
    "",
    {
      status: "parked",
      park: { reason: "in_doubt", stepId: "say" },
      steps: [step({ rows, errors: [{ ...rowError, code: "outcome_unknown", firstOrdinal: 7 }] })],
    },
    "svc cannot know if Messaging bot received the write of row 7",
    ["answer_ask", "check_app"],
  ],
  [
    "",
    { status: "parked", park: { reason: "undo_stuck", stepId: "say" } },
    "svc could not undo a call of step say",
    ["answer_ask"],
  ],
  [
    "JOB_POISONED: 3 nodes in a row lost their lease",
    { status: "parked", park: { reason: "poisoned", stepId: "say" } },
    "svc stopped the job: 3 nodes in a row lost their lease",
    ["resume"],
  ],
] as const)("a job with the error %s is explained: %#", (lastError, changes, title, remedies) => {
  const failure = job(lastError, changes);
  expect([failure?.title, failure?.remedies]).toEqual([title, remedies]);
});

test.each(["succeeded", "running", "queued", "cancelled"])("a job that is %s has no failure", (status) => {
  expect(job("", { status })).toBeUndefined();
});

test("a job that waits for an answer or a time has no failure", () => {
  for (const reason of ["judgment", "approval", "wait", "paused", "child", "administrator"])
    expect(job("", { status: "parked", park: { reason, stepId: "say" } })).toBeUndefined();
});

test("the failure of rows says how many of how many failed, with the app's words", () => {
  const failure = job("ROWS_FAILED: step say: 2 of 3 rows failed", {
    steps: [step({ rows, errors: [rowError, rowsFailed] })],
  });
  expect(failure).toMatchObject({
    ...{ rowsFailed: 2, rowsIn: 3, stepId: "say", toolSlug: "messaging_bot.send_message" },
    ...{ code: "provider_error", httpStatus: 400, appMessage: "chat not found" },
  });
});

test.each([
  [{ rows, errors: [rowError, rowsFailed] }, rowError, 'Messaging bot refused 2 of 3 rows: "chat not found"'],
  [{ rows, errors: [rowError, rowsFailed] }, rowsFailed, 'Messaging bot refused 2 of 3 rows: "chat not found"'],
  [{}, { ...rowError, count: 1 }, 'Messaging bot refused the call: "chat not found"'],
  [
    { rows },
    { ...rowError, code: "LIMIT_REACHED", sample: "the job's limit of 500 toolCalls is reached" },
    "Reached its limit of 500 calls",
  ],
] as const)("an error of a step is explained: %o", (changes, error, title) => {
  expect(stepErrorFailure(step(changes), error, { atMs }).title).toBe(title);
});

test("the failure of a job and the error of the step that caused it have the same fingerprint", () => {
  const failed = step({ rows, errors: [rowError, rowsFailed] });
  const ofJob = job("ROWS_FAILED: step say: 2 of 3 rows failed", { steps: [failed] });
  expect(stepErrorFailure(failed, rowError, { atMs }).fingerprint).toBe(ofJob?.fingerprint);
});

test("only the receipt of the failed step is necessary to explain a job, and all receipts if a person stopped it", () => {
  const told = (status: string, lastError = "", park: ExplainedJob["park"] = null) =>
    stepToExplain({ status, lastError, park });
  expect(told("failed", "timeout: step say: no answer")).toBe("say");
  expect(told("failed", "SIMULATION_FAILED: none")).toBeUndefined();
  expect(told("parked", "", { reason: "in_doubt", stepId: "say" })).toBe("say");
  expect(told("aborted")).toBe("");
  expect([told("succeeded"), told("expired"), told("parked")]).toEqual([undefined, undefined, undefined]);
});

test("a run that svc refused says why", () => {
  const failure = (reason: string, detail = "") => refusedRunFailure({ reason, detail, atMs });
  expect(failure("input_invalid", "/count must be a number")).toMatchObject({
    title: "The input of the run does not fit the program: /count must be a number",
    remedies: ["edit_program"],
  });
  expect(failure("new_reason").title).toBe("svc could not start the job");
});
