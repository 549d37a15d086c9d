import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";

/** A request as the app received it. */
export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  /** The text of the note; for a deletion, the id of the note; empty for reads. */
  readonly text: string;
  /** The idempotency key of the request. */
  readonly key: string | undefined;
  /** True if the app answered that it did nothing. */
  isRefused?: boolean;
};

/** A local app that records its requests: it lists items in pages, takes notes with and without a key, and deletes them. */
export type JobsProvider = {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Tags of the jobs whose flaky requests now succeed. Those of other jobs are refused. */
  readonly mended: Set<string>;
  /** Time in milliseconds before the app answers. Default: 0. */
  latencyMs: number;
  /** Called for each request before the app answers it. The app waits for it, and never answers if it returns true. */
  onRequest: (request: SeenRequest) => boolean | Promise<boolean>;
  close(): Promise<void>;
};

/** Number of items that the app has. */
export const itemsMax = 9;
/** Number of items in a page. */
const pageSize = 5;

/** Starts the local app. */
export async function startJobsProvider(): Promise<JobsProvider> {
  const server = createServer((req, res) => void answer(req, res)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const provider: JobsProvider = {
    url: `http://127.0.0.1:${address.port}`,
    seen: [],
    mended: new Set(),
    latencyMs: 0,
    onRequest: () => false,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const request = await read(req);
    provider.seen.push(request);
    if (isLost(request, provider.mended)) return;
    if (await provider.onRequest(request)) return;
    if (provider.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, provider.latencyMs));
    const query = new URL(req.url ?? "/", "http://app").searchParams;
    const value = isFlaky(request, query, provider.mended) ? undefined : answerOf(request, query);
    request.isRefused = value === undefined;
    res.writeHead(value === undefined ? 404 : 200, { "content-type": "application/json" });
    res.end(JSON.stringify(value ?? { error: "none of that" }));
  };
  return provider;
}

async function read(req: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const { method = "", headers } = req;
  const path = decodeURIComponent(new URL(req.url ?? "/", "http://app").pathname);
  const body = Buffer.concat(chunks).toString("utf8");
  const key = headers["idempotency-key"];
  const text =
    method === "POST"
      ? (JSON.parse(body) as { text: string }).text
      : method === "DELETE"
        ? (path.split("/")[2] ?? "")
        : "";
  return { method, path, text, key: typeof key === "string" ? key : undefined };
}

/** Ids of the rows whose requests are flaky, for requests named `flaky-` and the id of a row. */
const flakyRows = ["i3", "i6"];

/**
 * True if a request is refused until the test repairs the app for its job's tag. These are the requests of the item `flaky-<tag>`, of the
 * row item `flaky-<tag>.<row>`, of the note `<tag>/flaky-<row>`, and of the second page of the list `/flaky`.
 */
function isFlaky({ method, path, text }: SeenRequest, query: URLSearchParams, mended: ReadonlySet<string>): boolean {
  if (path === "/flaky") return query.has("page") && !mended.has(query.get("tag") ?? "");
  const flaky = method === "POST" ? /^(.+)\/flaky-(.+)$/.exec(text) : /^\/items\/flaky-([^.]+)(?:\.(.+))?$/.exec(path);
  if (flaky === null) return false;
  const [, tag = "", row] = flaky;
  return (row === undefined || flakyRows.includes(row)) && !mended.has(tag);
}

/** True if a note contains `lost`. Until the app is repaired for its job's tag, it does nothing with such a note and never answers. */
function isLost(request: SeenRequest, mended: ReadonlySet<string>): boolean {
  const [, tag = ""] = /^(.+)\/lost$/.exec(request.text) ?? [];
  request.isRefused = tag !== "" && !mended.has(tag);
  return request.isRefused;
}

let ticks = 0;

/** Returns the app's answer, or undefined for a 404. The item "tick" has another value at each request. */
function answerOf({ method, path, text }: SeenRequest, query: URLSearchParams): object | undefined {
  if (method === "POST") return { id: `note-${text.replaceAll("/", ".")}`, text };
  if (method === "DELETE") return { ok: true };
  if (path === "/items/bad") return undefined;
  if (path === "/items/tick") return { id: "tick", text: `tick ${++ticks}` };
  if (!["/items", "/numbered", "/flaky"].includes(path)) return { id: path.split("/")[2], text: "an item" };
  const isNumbered = path === "/numbered";
  const from = isNumbered ? (Number(query.get("number")) - 1) * pageSize : Number(query.get("page") ?? "0");
  const items = Array.from({ length: Math.max(0, Math.min(pageSize, itemsMax - from)) }, (_, index) => {
    return { id: `i${from + index}`, n: from + index, secret: `marker-${from + index}` };
  });
  return { items, ...(!isNumbered && from + pageSize < itemsMax && { next: String(from + pageSize) }) };
}

const text = { type: "string" };
const note = { type: "object", properties: { id: text, text } };
const described = (description: string) => ({ type: "string", description });
const pageNumber = { type: "integer", minimum: 1, description: "Number of the page, from 1." };
const sent = {
  type: "object",
  additionalProperties: false,
  required: ["text"],
  properties: { text: described("What it says.") },
};
const named = {
  type: "object",
  additionalProperties: false,
  required: ["id"],
  properties: { id: described("Its id.") },
};

const tools: Record<string, object> = {
  list_items: tool("read", "Lists the items that lie on the desk, page after page, in their order.", {
    input: { type: "object", additionalProperties: false, properties: { page: described("Token of the page.") } },
    output: { type: "object", properties: { items: { type: "array", items: { type: "object" } }, next: text } },
    request: { method: "GET", path: "/items", query: { page: "{{params.page}}" } },
  }),
  list_numbered: tool("read", "Lists the items that lie on the desk by the number of the page, up to an empty one.", {
    input: { type: "object", additionalProperties: false, properties: { number: pageNumber } },
    output: { type: "object", properties: { items: { type: "array", items: { type: "object" } } } },
    request: { method: "GET", path: "/numbered", query: { number: "{{params.number}}" } },
    paging: { arg: "number", start: 1 },
  }),
  get_item: tool("read", "Reads one item that lies on the desk by its id, as it is now.", {
    input: named,
    output: note,
    request: { method: "GET", path: "/items/{{params.id}}" },
  }),
  send_note: tool("write", "Sends a note from the desk to somebody; a repeat sends it again.", {
    input: sent,
    output: note,
    request: { method: "POST", path: "/notes", body: { text: "{{params.text}}" } },
  }),
  send_keyed: tool("write", "Sends a note from the desk; a repeat with the same key does not send it again.", {
    input: sent,
    output: note,
    idempotency: { header: "Idempotency-Key", maxLength: 64 },
    request: { method: "POST", path: "/keyed", body: { text: "{{params.text}}" } },
  }),
  delete_note: tool("destructive", "Deletes a note that was sent from the desk; it cannot be brought back.", {
    input: named,
    output: { type: "object", properties: { ok: { type: "boolean" } } },
    request: { method: "DELETE", path: "/notes/{{params.id}}" },
  }),
};

function tool(accessClass: string, description: string, rest: object): object {
  const intents = ["work", "papers", "things"].map((word) => `${description.split(" ", 2).join(" ")} for ${word}`);
  return { kind: "action", class: accessClass, description, intents, ...rest };
}

/** Writes the app's toolkit and tool definitions into a folder, with a deployment file that sets the app's address to `providerUrl`. */
export async function writeDefinitions(
  folder: string,
  providerUrl: string,
): Promise<{ toolkits: string; deployment: string }> {
  const toolkits = join(folder, "toolkits");
  await mkdir(join(toolkits, "desk", "tools"), { recursive: true });
  const toolkit = {
    slug: "desk",
    name: "Desk",
    description: "Notes on a desk, for tests of jobs and of nothing else.",
    version: "1.2.3",
    category: "communication",
    baseUrl: "https://desk.example.com",
    auth: [{ type: "none" }],
  };
  const deployment = join(folder, "deployment.yaml");
  // Written as JSON, because every JSON document is also YAML.
  await writeFile(join(toolkits, "desk", "toolkit.yaml"), JSON.stringify(toolkit));
  for (const [name, definition] of Object.entries(tools)) {
    await writeFile(join(toolkits, "desk", "tools", `${name}.yaml`), JSON.stringify(definition));
  }
  const overlay = { toolkit: { baseUrl: providerUrl } };
  await writeFile(deployment, JSON.stringify({ toolkits: { desk: { overlay } } }));
  return { toolkits, deployment };
}
