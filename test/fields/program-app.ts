import type { AppTransport } from "@svc/connections";
import { createWorld, type Scripted, type SeenRequest } from "@svc/testing/desk";

/** A request that the app received: its content, its account, its timeout and its time. */
export type Sent = {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly entity: string;
  readonly timeoutMs: number;
  readonly atMs: number;
};

/** The app that all proofs of programs use. Its answer depends on the path, the shelf (name of a list) or the text. */
export type ProgramApp = {
  readonly transport: AppTransport;
  readonly sent: Sent[];
  /** Largest number of requests under way at the same time. */
  widest: number;
};

const item = (n: number) => ({
  id: `i${n}`,
  n,
  half: n % 2 === 0 ? "even" : "odd",
  tags: [`t${n}`, "all"],
  owner: n < 3 ? "ada" : null,
});

/** Returns a list by its name, the shelf. The list `paged` has two pages by token; `moving` has one row on both of its pages. */
function listOf(shelf: string, page: string): unknown {
  const isFirst = page === "";
  if (shelf === "paged") return isFirst ? { items: [item(0), item(1)], next: "p2" } : { items: [item(2), item(3)] };
  if (shelf === "moving") return isFirst ? { items: [item(0), item(1)], next: "p2" } : { items: [item(1), item(2)] };
  return { items: [item(0), item(1), item(2), item(3)] };
}

function script({ method, path, query, body }: SeenRequest): Scripted | undefined {
  const words = `${path} ${String(body["text"] ?? "")}`;
  if (words.includes("gone")) return { status: 404 };
  // 500 is the only retryable status that the call itself does not send again, so every repetition comes from the step's `retry`.
  if (words.includes("down")) return { status: 500 };
  if (words.includes("busy")) return { status: 429 };
  if (words.includes("refused")) return { status: 422 };
  if (words.includes("lost")) return "timeout";
  if (method === "GET" && path === "/items/i1") return { status: 404 };
  if (method === "GET" && path === "/items") {
    return { status: 200, body: listOf(query.get("shelf") ?? "", query.get("page") ?? query.get("cursor") ?? "") };
  }
  return undefined;
}

/** Creates an app with four items. The second item is in the list but cannot be read. */
export function createProgramApp(now: () => number): ProgramApp {
  const world = createWorld({ items: 4 });
  world.script = script;
  let underWay = 0;
  const app: ProgramApp = {
    sent: [],
    widest: 0,
    transport: {
      async send(request, call, options) {
        const { host, pathname, search } = new URL(request.url);
        const { method, headers, body } = request;
        const sent = { method, host, path: pathname, query: search, headers, body, timeoutMs: options.timeoutMs };
        app.sent.push({ ...sent, entity: call.entityId, atMs: now() });
        app.widest = Math.max(app.widest, ++underWay);
        // The wait lets other requests begin at the same time.
        await new Promise((resolve) => setTimeout(resolve, 2));
        underWay--;
        return world.transport.send(isForm(request) ? { ...request, body: undefined } : request, call, options);
      },
    },
  };
  return app;
}

/** True if the app cannot read the body because it has the format of a form. */
function isForm({ body }: { readonly body: string | undefined }): boolean {
  return body !== undefined && !body.startsWith("{");
}
