import {
  type Action,
  type Catalog,
  fillInput,
  pinToolkit,
  renderRequest,
  type Toolkit,
  toolkitFromPin,
} from "@svc/catalog";
import type { AppAnswer, AppCall, AppRequest } from "@svc/connections";
import { createSealer, generateVaultKey, type ProjectId, parseVaultKeys } from "@svc/core";
import { createTestClock } from "@svc/testing/clock";
import { shippedCatalog } from "@svc/testing/shipped-catalog";
import type { StoreLimits } from "./data/store.ts";
import { createSandbox, sandboxTokenUrl } from "./index.ts";

/** The catalog of definitions that svc ships with. */
export const shipped: Catalog = await shippedCatalog();

/** The redirect URL to which OAuth authorization codes are sent in tests. */
export const callbackUrl = "http://127.0.0.1:8080/oauth/callback";

/** Options of one call in a test. They replace the usual values, such as the project `prj_a`. */
export type CallOptions = {
  readonly entityId?: string;
  readonly projectId?: string;
  readonly scheme?: string;
  /** True if the call is made as a job would make it: the app's toolkit is stored with the program (pinned) and has only this tool. */
  readonly isPinned?: boolean;
  /** Changes the finished request, including its credential, before the emulated app gets it. */
  readonly change?: (request: AppRequest) => AppRequest;
};

/** An answer of an emulated app, with its body parsed as JSON. */
export type Answered = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
};

/** Creates a separate sandbox for a test, and a function that calls its apps. The function has defaults for most options of a call. */
export function createApps(catalog: Catalog = shipped, limits: Partial<StoreLimits> = {}) {
  const clock = createTestClock();
  const sealer = createSealer(parseVaultKeys(generateVaultKey()));
  const findToolkit = (slug: string) => catalog.toolkits.get(slug);
  const sandbox = createSandbox({
    clock,
    sealer,
    callbackUrl,
    findToolkit,
    limits,
    findWhole: async ({ toolkit }) => findToolkit(toolkit.slug),
  });

  async function accessToken(toolkit: string): Promise<string> {
    const body = new URLSearchParams({ grant_type: "client_credentials", client_id: "sandbox" });
    const response = await sandbox.oauth.fetch(sandboxTokenUrl(toolkit), { method: "POST", body });
    const { access_token: token } = (await response.json()) as { access_token: string };
    return token;
  }

  async function send(slug: string, args: Record<string, unknown>, options: CallOptions = {}): Promise<AppAnswer> {
    const { toolkit, action } = find(catalog, slug, options.isPinned);
    const scheme = options.scheme ?? toolkit.auth[0]?.type ?? "none";
    const projectId = (options.projectId ?? "prj_a") as ProjectId;
    const call: AppCall = { projectId, toolkit, action, entityId: options.entityId ?? "someone", scheme };
    const token = await accessToken(toolkit.slug);
    const request = withCredential(requestOf(toolkit, action, args), call, token);
    return await sandbox.transport.send(options.change?.(request) ?? request, call, { timeoutMs: 5000 });
  }

  async function call(slug: string, args: Record<string, unknown>, options: CallOptions = {}): Promise<Answered> {
    const answer = await send(slug, args, options);
    if (answer.kind !== "answer") throw new Error(`${slug} was not answered: ${answer.kind}`);
    const text = answer.body.toString();
    return { status: answer.status, headers: answer.headers, body: text === "" ? undefined : JSON.parse(text) };
  }

  return { ...sandbox, clock, sealer, send, call, accessToken };
}

function find(catalog: Catalog, slug: string, isPinned = false): { toolkit: Toolkit; action: Action } {
  const action = catalog.tools.get(slug);
  const toolkit = catalog.toolkits.get(action?.toolkitSlug ?? "");
  if (action?.kind !== "action" || toolkit === undefined) throw new Error(`${slug} is not an action of the catalog`);
  if (isPinned) {
    const pinned = toolkitFromPin(pinToolkit(toolkit, new Set([action.name])));
    const [only = action] = pinned.actions;
    return { toolkit: pinned, action: only };
  }
  return { toolkit, action };
}

function requestOf(toolkit: Toolkit, action: Action, args: Record<string, unknown>): AppRequest {
  const [fault] = action.validateInput(args);
  if (fault !== undefined) throw new Error(`${action.slug}: ${fault.pointer} ${fault.message}`);
  const account = Object.fromEntries(toolkit.account.map(({ name, example }) => [name, example]));
  const params = fillInput(action.inputSchema, args) as Record<string, unknown>;
  const { method, path, query, headers, body } = renderRequest(toolkit, action, { params, account });
  const search = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString();
  return {
    method,
    url: `https://app.sandbox.invalid${path}${search === "" ? "" : `?${search}`}`,
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

function withCredential(request: AppRequest, { toolkit, scheme }: AppCall, token: string): AppRequest {
  const declared = toolkit.auth.find(({ type }) => type === scheme);
  switch (declared?.type) {
    case "api_key": {
      if (declared.placement === "path") return request;
      const text = declared.value.kind === "text" ? declared.value.template.text : "";
      const value = text.replaceAll(/\{\{[^}]*\}\}/g, "k-123");
      if (declared.placement === "query") {
        const url = new URL(request.url);
        url.searchParams.set(declared.name, value);
        return { ...request, url: url.href };
      }
      return { ...request, headers: { ...request.headers, [declared.name]: value } };
    }
    case "basic":
      return { ...request, headers: { ...request.headers, authorization: `Basic ${btoa("ana:secret")}` } };
    case "none":
    case undefined:
      return request;
    default:
      return { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } };
  }
}
