import type { AppAnswer, AppRequest, AppTransport } from "@svc/connections";
import { createId, type ProjectId, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { activateAccount } from "@svc/db/connections/activate";
import type { ToolkitSource } from "./catalog.ts";

const text = { type: "string" };
const note = { type: "object", properties: { id: text, text } };
const input = (properties: object, required: string[] = []) => {
  return { type: "object", additionalProperties: false, required, properties };
};
const described = (description: string) => ({ type: "string", description });
const shelfQuery = Object.fromEntries(["page", "offset", "cursor", "size"].map((name) => [name, `{{params.${name}}}`]));
const intents = (word: string) => [`${word} of the desk`, `${word} for the office`, `${word} wanted`];

/**
 * The toolkit `desk` (tools of an app for tests). It has tools that read with and without pages, tools that write with and without an
 * idempotency key, and their undo tools.
 */
export const desk: ToolkitSource = {
  toolkit: {
    slug: "desk",
    name: "Desk",
    description: "Notes on a desk, for tests of jobs and of nothing else.",
    version: "1.2.3",
    category: "communication",
    baseUrl: "https://desk.example.com",
    auth: [{ type: "none" }],
  } as ToolkitSource["toolkit"],
  tools: {
    list_items: tool("read", "Lists the items that lie on the desk, page after page, in their order.", {
      intents: intents("all items"),
      input: input({ page: described("Token of the page."), shelf: described("Where to look.") }),
      output: { type: "object", properties: { items: { type: "array", items: { type: "object" } }, next: text } },
      request: { method: "GET", path: "/items", query: { page: "{{params.page}}", shelf: "{{params.shelf}}" } },
    }),
    list_shelf: tool(
      "read",
      "Lists the items of a shelf by page number, by offset or by link; it declares the first way.",
      {
        intents: intents("the shelf"),
        input: input({
          page: { type: "integer", minimum: 1, description: "Number of the page, from 1." },
          offset: { type: "integer", minimum: 0, description: "How many items to skip." },
          cursor: described("The cursor of the link to the next page."),
          size: { type: "integer", minimum: 1, default: 5, description: "Items on a page." },
        }),
        output: {
          type: "object",
          properties: {
            items: { type: "array", items: { type: "object" } },
            links: { type: "object", properties: { next: text } },
            more: { type: "boolean" },
          },
        },
        request: { method: "GET", path: "/shelf", query: shelfQuery },
        paging: { arg: "page", start: 1, size: "size" },
      },
    ),
    get_item: tool("read", "Reads one item that lies on the desk by its id, as it is now.", {
      intents: intents("one item"),
      input: input({ id: described("Id of the item.") }, ["id"]),
      output: { type: "object", properties: { id: text, text } },
      request: { method: "GET", path: "/items/{{params.id}}" },
    }),
    send_note: tool("write", "Sends a note from the desk to somebody; a repeat sends it again.", {
      intents: intents("a new note"),
      input: input({ text: described("What it says.") }, ["text"]),
      output: note,
      response: { error: { path: "error", message: "error" } },
      request: { method: "POST", path: "/notes", body: { text: "{{params.text}}" } },
    }),
    send_keyed: tool(
      "write",
      "Sends a note from the desk to somebody; a repeat with the same key does not send it again.",
      {
        intents: intents("a keyed note"),
        input: input({ text: described("What it says.") }, ["text"]),
        output: note,
        idempotency: { header: "Idempotency-Key", maxLength: 64 },
        request: { method: "POST", path: "/keyed", body: { text: "{{params.text}}" } },
      },
    ),
    delete_note: tool("destructive", "Deletes a note that was sent from the desk; it cannot be brought back.", {
      intents: intents("no such note"),
      input: input({ id: described("Id of the note.") }, ["id"]),
      output: { type: "object", properties: { ok: { type: "boolean" } } },
      response: { empty: { ok: true } },
      request: { method: "DELETE", path: "/notes/{{params.id}}" },
    }),
  },
};

function tool(accessClass: string, description: string, rest: object): ToolkitSource["tools"][string] {
  return { kind: "action", class: accessClass, description, ...rest } as unknown as ToolkitSource["tools"][string];
}

/** A request to the simulated app of a test, as the app received it. */
export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Record<string, unknown>;
  readonly key: string | undefined;
};

/** An answer of the scripted app. A plain JSON value means status 200 with this value as its body. */
export type Scripted =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | "broken"
  | "timeout";

/**
 * The simulated apps of a test, in place of real apps outside svc. `seen`: the requests that the apps received, in order. `script`: a
 * function that the test may replace to choose the answer to each request.
 */
export type World = {
  readonly seen: SeenRequest[];
  /**
   * Returns the app's answer to a request. `count`: number of requests so far, including this one. If the result is undefined, the app
   * gives its usual answer.
   */
  script: (request: SeenRequest, count: number) => Scripted | undefined | Promise<Scripted | undefined>;
  readonly transport: AppTransport;
};

/**
 * Creates the simulated apps of a test. Each list that an app serves has `items` items in total. `pageSize`: maximum number of items in one
 * answer to a request for `/items`; further items need further requests.
 */
export function createWorld({ items = 3, pageSize = 1000 } = {}): World {
  const world: World = {
    seen: [],
    script: () => undefined,
    transport: {
      async send(request: AppRequest): Promise<AppAnswer> {
        const seen = seenOf(request);
        world.seen.push(seen);
        const scripted = (await world.script(seen, world.seen.length)) ?? { status: 200, body: usual(seen) };
        if (typeof scripted === "string") return { kind: scripted, sent: true, message: scripted };
        const body = scripted.body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(scripted.body));
        return { kind: "answer", status: scripted.status, headers: scripted.headers ?? {}, body };
      },
    },
  };
  const usual = ({ method, path, query, body }: SeenRequest): unknown => {
    if (method === "GET" && path === "/items") {
      const from = Number(query.get("page") ?? "0");
      const list = Array.from({ length: Math.min(pageSize, items - from) }, (_, index) => {
        const number = from + index;
        return { id: `i${number}`, n: number, secret: `marker-${number}` };
      });
      return { items: list, ...(from + pageSize < items && { next: String(from + pageSize) }) };
    }
    if (method === "GET" && path === "/shelf") {
      const size = Number(query.get("size"));
      const skipped = Number(query.get("offset") ?? query.get("cursor") ?? (Number(query.get("page") ?? 1) - 1) * size);
      const length = Math.max(0, Math.min(size, items - skipped));
      const more = skipped + size < items;
      return {
        items: Array.from({ length }, (_, index) => ({ id: `i${skipped + index}`, n: skipped + index })),
        links: more ? { next: `/shelf?cursor=${skipped + size}` } : {},
        more,
      };
    }
    if (method === "GET") return { id: path.split("/")[2], text: "an item" };
    if (method === "POST") return { id: `note-${String(body["text"])}`, text: body["text"] };
    return undefined;
  };
  return world;
}

function seenOf({ method, url, headers, body }: AppRequest): SeenRequest {
  const { pathname, searchParams } = new URL(url);
  return {
    method,
    path: pathname,
    query: searchParams,
    body: body === undefined ? {} : (JSON.parse(body) as Record<string, unknown>),
    key: headers["idempotency-key"],
  };
}

/** Connects an account of the test app (the desk) for an entity (a customer or user) of a project. The entity is `ops` by default. */
export async function connectDesk(
  db: Database,
  sealer: Sealer,
  projectId: ProjectId,
  nowMs: number,
  entityId = "ops",
): Promise<void> {
  const id = createId("acc", nowMs);
  const credential = sealer.seal(Buffer.from('{"scheme":"none"}'), `${projectId}/connected_accounts/${id}`);
  const account = {
    id,
    projectId,
    toolkitSlug: "desk",
    isPrivate: false,
    isSandbox: true,
    entityId,
    scheme: "none",
    variables: {},
    credential,
    originDigest: null,
    grantedScopes: [],
    createdAt: nowMs,
    updatedAt: nowMs,
    expiresAt: null,
    refreshAt: null,
  };
  await activateAccount(db, account, { isNew: true, referencesOf: () => [], exclusiveOf: () => [] });
}
