import type { AccessClass, Action, Toolkit } from "@svc/catalog";
import { LeastRecentlyUsed, parseTemplateTree } from "@svc/core";

/** What the ledger, limits and receipts call the requests that programs declare. No tool of a toolkit has a slug without a dot. */
const slug = "http";

const nothing = parseTemplateTree({});

/** Stands for a toolkit where a request of a program's own is made: it has no account, no base URL and no tools. */
export const httpToolkit: Toolkit = {
  slug,
  ownerProjectId: "",
  originDigest: "",
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

/** What a request may do, and the header that takes the key of a write, where its host does one of the same key once. */
export type HttpEffect = { readonly access: AccessClass; readonly keyHeader: string | undefined };

/** Requests of programs differ in little: so many of these are kept. */
const keptMax = 200;
const kept = new LeastRecentlyUsed<string, Action>(keptMax);

/** The definition by which a request of a program's own is called: it takes any answer as it is. */
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
