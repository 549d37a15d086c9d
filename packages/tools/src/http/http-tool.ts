import type { AccessClass, Action, Toolkit } from "@svc/catalog";
import { LeastRecentlyUsed, parseTemplateTree } from "@svc/core";

/**
 * Slug for HTTP requests that a program makes itself, in the ledger (record of calls), limits and receipts (reports of jobs). No tool of an
 * app has this slug, because their slugs contain a dot.
 */
const slug = "http";

const nothing = parseTemplateTree({});

/** Empty toolkit (definition of an app) for requests that a program makes itself. It has no account, no base URL and no tools. */
export const httpToolkit: Toolkit = {
  slug,
  ownerProjectId: "",
  originDigest: "",
  // The sandbox cannot imitate hosts that a project calls directly, so the requests reach them.
  isLive: true,
  name: "HTTP",
  description: "",
  version: "",
  category: "",
  baseUrl: "",
  auth: [],
  account: [],
  always: { headers: nothing, query: nothing, body: nothing },
  identify: undefined,
  rate: undefined,
  webhook: undefined,
  actions: [],
  triggers: [],
  codeTools: [],
};

/**
 * Effect of a request. `access`: its access class (read, write or destructive). `keyHeader`: the header for an idempotency key; set if the
 * host executes a write only once per key.
 */
export type HttpEffect = { readonly access: AccessClass; readonly keyHeader: string | undefined };

/** Maximum number of tool definitions for HTTP requests of programs that this node keeps in memory. */
const keptMax = 200;
const kept = new LeastRecentlyUsed<string, Action>(keptMax);

/**
 * Returns a tool definition for the HTTP requests that a program writes itself. The definition accepts any answer of the host and returns
 * it unchanged.
 */
export function httpTool({ access, keyHeader }: HttpEffect): { readonly toolkit: Toolkit; readonly action: Action } {
  const key = `${access} ${keyHeader ?? ""}`;
  let action = kept.get(key);
  if (action === undefined) {
    action = actionOf({ access, keyHeader });
    kept.set(key, action);
  }
  return { toolkit: httpToolkit, action };
}

function actionOf({ access, keyHeader }: HttpEffect): Action {
  return {
    kind: "action",
    slug,
    name: slug,
    toolkitSlug: slug,
    ownerProjectId: "",
    class: access,
    scopes: [],
    description: "",
    intents: [],
    callable: true,
    uncallableReason: "",
    inputSchema: {},
    outputSchema: {},
    idempotency: keyHeader === undefined ? undefined : { header: keyHeader },
    request: { method: "GET", path: nothing, query: nothing, headers: nothing, body: undefined },
    response: { unwrap: "", under: "", empty: {}, error: undefined },
    validateInput: () => [],
    validateOutput: () => [],
  };
}
