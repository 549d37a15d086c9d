import { createHmac } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";

/** Secret with which the app signs its posts. */
export const ledgerSecret = "ledger-secret-of-the-tests";

const entry = { type: "object", properties: { id: { type: "integer" }, amount: { type: "number" } } };

const tools = {
  entry_booked: {
    kind: "trigger",
    description: "Fires when an entry was booked into the ledger of the account that the post names.",
    intents: ["tell me about new entries", "when something is booked", "watch the ledger of mine"],
    output: {
      type: "object",
      additionalProperties: false,
      required: ["id"],
      properties: {
        id: { type: "integer" },
        amount: { type: "number" },
        labels: { type: "array", items: { type: "string" } },
      },
    },
    match: { body: { kind: "entry" } },
    account: "{{body.owner}}",
    dedupe: "{{body.id}}",
    occurredAt: "{{body.at}}",
    payload: { id: "{{body.id}}", amount: "{{body.amount}}", labels: "{{body.labels}}" },
  },
  rate_set: {
    kind: "trigger",
    description: "Fires when the ledger sets another rate, once for each rate that the post names.",
    intents: ["tell me about new rates", "when the rate changes", "watch the rates of mine"],
    output: {
      type: "object",
      additionalProperties: false,
      required: ["rate"],
      properties: { rate: { type: "number" } },
    },
    match: { body: { kind: "rate" } },
    account: "{{body.owner}}",
    dedupe: "{{body.rate}}",
    occurredAt: "{{body.at}}",
    payload: { rate: "{{body.rate}}" },
  },
  list_entries: {
    kind: "action",
    class: "read",
    description: "Lists the entries of the ledger, all of them on one page, in the order they were booked.",
    intents: ["what was booked", "show the ledger of mine", "list all entries there are"],
    input: { type: "object", additionalProperties: false, properties: {} },
    output: { type: "object", properties: { items: { type: "array", items: entry } } },
    request: { method: "GET", path: "/entries" },
  },
  update_entry: {
    kind: "action",
    class: "write",
    description: "Changes the amount of one entry of the ledger, and answers the entry as it is afterwards.",
    intents: ["correct an entry", "book another amount", "change what was booked"],
    input: {
      type: "object",
      additionalProperties: false,
      required: ["id", "amount"],
      properties: {
        id: { type: "integer", description: "Id of the entry." },
        amount: { type: "number", description: "The amount it is to have." },
        page: { type: "integer", description: "Page of the ledger." },
      },
    },
    output: entry,
    request: {
      method: "PUT",
      path: "/entries/{{params.id}}",
      query: { page: "{{params.page}}" },
      body: { id: "{{params.id}}", amount: "{{params.amount}}" },
    },
  },
};

/** Writes the definitions and the deployment file of an app that books entries with 64-bit ids. A test server loads them. */
export async function writeLedgerApp(
  appUrl: string,
): Promise<{ readonly variables: Record<string, string> } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "svc-ledger-"));
  const own = join(folder, "toolkits", "ledger", "tools");
  await mkdir(own, { recursive: true });
  const toolkit = {
    slug: "ledger",
    name: "Ledger",
    description: "Entries of a ledger, for tests of what providers post and of numbers of many digits.",
    version: "0.1.0",
    category: "payments-and-banking",
    baseUrl: "{{deployment.provider_base_url}}",
    auth: [{ type: "api_key", placement: "header", name: "X-Key", value: "{{credential.key}}" }],
    webhook: {
      scheme: "hmac_sha256",
      secretEnv: "SVC_WEBHOOK_SECRET_LEDGER",
      header: "X-Ledger-Signature",
      encoding: "hex",
      prefix: "",
    },
  };
  await writeFile(join(own, "..", "toolkit.yaml"), stringify(toolkit));
  for (const [name, tool] of Object.entries(tools)) await writeFile(join(own, `${name}.yaml`), stringify(tool));
  const quiet = { ...toolkit, slug: "silent", name: "Silent", webhook: undefined };
  await mkdir(join(folder, "toolkits", "silent", "tools"), { recursive: true });
  await writeFile(join(folder, "toolkits", "silent", "toolkit.yaml"), stringify(JSON.parse(JSON.stringify(quiet))));
  await writeFile(join(folder, "toolkits", "silent", "tools", "list_entries.yaml"), stringify(tools.list_entries));
  const bound = { provider_base_url: appUrl };
  const deployment = { toolkits: { ledger: { ...bound, webhook: { audience: "projects" } }, silent: bound } };
  await writeFile(join(folder, "deployment.yaml"), stringify(deployment));
  return {
    variables: {
      SVC_TOOLKITS: join(folder, "toolkits"),
      SVC_DEPLOYMENT: join(folder, "deployment.yaml"),
      SVC_SANDBOX: "off",
      SVC_WEBHOOK_SECRET_LEDGER: ledgerSecret,
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Answer of svc to a post. */
export type PostAnswer = { readonly status: number; readonly text: string; readonly headers: Headers };

/** Posts a body to svc as the app would. The raw bytes are signed, whatever they are. */
export async function postToLedger(
  { url }: { url: string },
  body: string | Buffer,
  {
    headers = {},
    query = "",
    secret = ledgerSecret,
  }: { headers?: Record<string, string>; query?: string; secret?: string } = {},
): Promise<PostAnswer> {
  const bytes = Buffer.from(body as string);
  const signature = createHmac("sha256", secret).update(bytes).digest("hex");
  const answer = await fetch(`${url}/webhooks/ledger${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-ledger-signature": signature, ...headers },
    body: bytes,
  });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}
