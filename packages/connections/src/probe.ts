import {
  type Action,
  bindBaseUrl,
  classToConfirm,
  fieldsText,
  fillInput,
  hostArguments,
  isPlayed,
  RequestValueError,
  renderRequest,
  type SandboxMode,
  type Toolkit,
} from "@svc/catalog";
import {
  isJsonNumber,
  isObject,
  type ProjectId,
  parseExactJson,
  parseTemplate,
  readForeignText,
  renderTemplate,
  scalarText,
} from "@svc/core";
import type { AppAnswer, AppRequest, AppTransport } from "./app-transport.ts";
import type { Credential } from "./credential.ts";
import { isReference } from "./definition.ts";
import { placeCredential, schemeOf } from "./place-credential.ts";

/**
 * Result of testing a credential. `skipped`: the app's toolkit names no tool for a test, or its host is not configured. `unplaceable`: the
 * credential cannot be part of a request. `failed`: the app could not be reached or gave no usable answer.
 */
export type ProbeResult =
  | { readonly kind: "skipped" }
  | { readonly kind: "taken"; readonly reference: string | undefined }
  | { readonly kind: "refused" | "unplaceable" | "failed"; readonly message: string };

/** The account whose credential `probe` tests: its owner, its variables, and the credential. */
export type ProbedAccount = {
  readonly projectId: ProjectId;
  readonly toolkit: Toolkit;
  readonly entityId: string;
  readonly credential: Credential;
  readonly variables: Readonly<Record<string, string>>;
};

const timeoutMs = 30_000;

/**
 * Tests a credential: calls the read tool that the app's toolkit names in `identify`, once. Returns the result of the test: for example
 * `taken` (accepted, with the account's id in the app) or `refused`. An error of the app is also a result, so the function never rejects
 * because of the app.
 */
export async function probe(
  account: ProbedAccount,
  { transport, sandboxMode }: { transport: AppTransport; sandboxMode: SandboxMode },
): Promise<ProbeResult> {
  const { toolkit, credential, variables, projectId, entityId } = account;
  const { identify } = toolkit;
  const isSandbox = isPlayed(toolkit, sandboxMode);
  const action = toolkit.actions.find(({ name }) => name === identify?.tool);
  const scheme = schemeOf(toolkit, credential.scheme);
  if (identify === undefined || action === undefined || scheme === undefined) return { kind: "skipped" };
  // A definition from before version 0.2 may call its `identify` tool a read although it is not: the class of a private toolkit was not
  // checked then. Such a tool is not called.
  if (classToConfirm(action) !== "read") return { kind: "skipped" };
  // For these entities, the sandbox simulates failures of an app. A test would fail, and the account could then not be connected to see the
  // failures.
  if (isSandbox && entityId.startsWith("sandbox:")) return { kind: "skipped" };
  const request = buildProbe(toolkit, action, variables, isSandbox);
  if (request === undefined) return { kind: "skipped" };
  const placed = placeCredential(scheme, credential, variables, request);
  if ("fault" in placed) return { kind: "unplaceable", message: placed.fault };
  const call = { projectId, toolkit, action, entityId, scheme: credential.scheme };
  return judge(action, identify.path, await transport.send(placed, call, { timeoutMs }));
}

function buildProbe(
  toolkit: Toolkit,
  action: Action,
  account: Readonly<Record<string, string>>,
  isSandbox: boolean,
): AppRequest | undefined {
  const params = fillInput(action.inputSchema, {}) as Record<string, unknown>;
  const base = baseUrlOf(toolkit, { account, params }, isSandbox);
  if (base === undefined) return undefined;
  try {
    const { method, path, query, headers, body } = renderRequest(toolkit, action, { params, account });
    const search = fieldsText(query);
    const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    return {
      method,
      url: `${base}${path}${search === "" ? "" : `?${search}`}`,
      headers: {
        "user-agent": "svc/0.1",
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...own,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    };
  } catch (error) {
    if (error instanceof RequestValueError) return undefined;
    throw error;
  }
}

/**
 * Returns the base URL for a test call, or undefined if it is not known. In the sandbox, returns the address of the toolkit's simulated
 * app, as for tool calls.
 */
function baseUrlOf(toolkit: Toolkit, scope: Parameters<typeof bindBaseUrl>[1], isSandbox: boolean): string | undefined {
  if (isSandbox) return `https://${toolkit.slug.replaceAll("_", "-")}.sandbox.invalid`;
  if (hostArguments(toolkit).length > 0) return undefined;
  const bound = bindBaseUrl(toolkit, scope);
  return "url" in bound ? bound.url : undefined;
}

function judge(action: Action, path: string, answer: AppAnswer): ProbeResult {
  if (answer.kind === "too_large") {
    const how =
      answer.isBusy === true ? "with more bytes than there was memory for at that moment" : "with more than 8 MiB";
    return { kind: "failed", message: `answered ${answer.status} ${how}` };
  }
  if (answer.kind !== "answer") return { kind: "failed", message: `could not be reached: ${answer.message}` };
  const { status } = answer;
  if (status === 401 || status === 403) return { kind: "refused", message: `answered ${status}` };
  if (status < 200 || status > 299) return { kind: "failed", message: `answered ${status}` };
  const body = parseJson(answer);
  const { error, unwrap, under } = action.response;
  const isError =
    (error?.path !== undefined && isThere(valueAt(body, error.path))) ||
    (error?.unless !== undefined && valueAt(body, error.unless) !== true);
  if (isError) return { kind: "refused", message: `answered ${status} with an error` };
  const payload = unwrap === "" ? body : valueAt(body, unwrap);
  const reference = valueAt(under !== "" && !isObject(payload) ? { [under]: payload } : payload, path);
  return { kind: "taken", reference: referenceOf(reference) };
}

/** Returns the app's own id of the account as text. Returns undefined if the app reports no id that svc can store. */
function referenceOf(value: unknown): string | undefined {
  // A long number keeps all its digits, because two accounts must not get the same reference.
  const reference = typeof value === "string" || isJsonNumber(value) ? scalarText(value) : undefined;
  return reference !== undefined && isReference(reference) ? reference : undefined;
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

function valueAt(value: unknown, path: string): unknown {
  const step = path.startsWith("[") ? path : `.${path}`;
  return renderTemplate(parseTemplate(`{{value${step}}}`), { value });
}

function parseJson({ body, headers, unreadable }: AppAnswer & { kind: "answer" }): unknown {
  const read = readForeignText(body, headers["content-type"]);
  if (unreadable !== undefined || "fault" in read) return undefined;
  try {
    return parseExactJson(read.text);
  } catch {
    return undefined;
  }
}
