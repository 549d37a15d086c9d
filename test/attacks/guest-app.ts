import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeToolkits } from "@svc/testing/catalog";
import { desk } from "@svc/testing/desk";
import { call } from "@svc/testing/server-process";

/** The test app `desk` as a separate app that records how it is called. Times are in milliseconds by the clock of this process. */
export type GuestApp = AsyncDisposable & {
  /** Environment variables for servers that call the app. */
  readonly variables: Readonly<Record<string, string>>;
  /** Time at which each note arrived. */
  readonly notes: number[];
  /** Number of notes that the app is processing: now, and the maximum so far. */
  readonly underWay: { now: number; most: number };
  /** Milliseconds that the app takes for a note. Undefined while it answers none. */
  takesMs: number | undefined;
};

/** Starts the test app with `items` items. */
export async function startGuestApp(items: number): Promise<GuestApp> {
  const notes: number[] = [];
  const underWay = { now: 0, most: 0 };
  const answer = (res: ServerResponse, body: object) => {
    res.setHeader("content-type", "application/json");
    res.end(JSON.stringify(body));
  };
  const server = createServer((req, res) => {
    req.resume();
    if (req.method === "GET" && req.url?.startsWith("/items/")) return answer(res, { id: "i1", text: "an item" });
    if (req.method === "GET") return answer(res, { items: Array.from({ length: items }, (_, n) => ({ id: `i${n}` })) });
    notes.push(performance.now());
    underWay.now++;
    underWay.most = Math.max(underWay.most, underWay.now);
    res.once("close", () => underWay.now--);
    if (app.takesMs !== undefined) setTimeout(() => answer(res, { id: "n1", text: "sent" }), app.takesMs);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const folder = await mkdtemp(join(tmpdir(), "svc-guest-"));
  await writeToolkits(folder, [{ ...desk, toolkit: { ...desk.toolkit, baseUrl: "{{deployment.provider_base_url}}" } }]);
  const deployment = join(folder, "deployment.yaml");
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeFile(deployment, JSON.stringify({ toolkits: { desk: { provider_base_url: host } } }));
  const app: GuestApp = {
    variables: { SVC_TOOLKITS: folder, SVC_DEPLOYMENT: deployment },
    notes,
    underWay,
    takesMs: 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    },
  };
  return app;
}

/** Connects an entity to the test app. */
export async function connectGuest(server: { url: string }, entityId: string): Promise<void> {
  await call(server, "ConnectionsService/InitiateConnection", { toolkitSlug: "desk", entityId, scheme: "none" });
}

/** Submits a job that sends a note for each item. */
export async function sendNotes(server: { url: string }, entity: string): Promise<string> {
  const program = {
    version: 1,
    title: "Send a note for each item",
    limits: { writes: 100_000, toolCalls: 100_000, rows: 20_000, concurrency: 8 },
    steps: [
      { id: "items", call: "desk.list_items", entity, args: {}, rows: { from: "items[]", key: "id", keep: ["id"] } },
      {
        id: "send",
        map: "items",
        concurrency: 8,
        do: [{ id: "note", call: "desk.send_note", entity, args: { text: { $ref: "row.id" } } }],
      },
    ],
  };
  const submitted = await call<{ job: { id: string } }>(server, "JobsService/SubmitJob", {
    programJson: JSON.stringify(program),
  });
  return submitted.job.id;
}
