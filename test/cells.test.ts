import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { runCommand } from "@svc/cli";
import { isWellFormedApiKey } from "@svc/core";
import { openEnvironment } from "@svc/server/config";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { deskDefinition } from "@svc/testing/private-webhook";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import {
  adminToken,
  freePort,
  type ServerProcess,
  startServerProcess,
  until,
  vaultKey,
} from "@svc/testing/server-process";
import { afterAll, beforeAll, expect, test } from "vitest";

// Two cells behind HAProxy with the rules of deploy/haproxy/cells.cfg, and maps that svc prints.

const hasHaproxy = spawnSync("haproxy", ["-v"]).status === 0;
if (!hasHaproxy) process.stderr.write("test/cells.test.ts: HAProxy is not installed, so its tests are skipped\n");

type Cell = { readonly name: string; readonly database: TestDatabase; readonly server: ServerProcess };
type Json = Record<string, never> & { [name: string]: Json };

const vault = vaultKey();
const secret = "a-secret-of-the-help-desk-0123456789";
let cells: [Cell, Cell];
let folder: string;
let front: string;
let haproxy: ChildProcess | undefined;
let receiver: TestReceiver;

async function startCell(name: string): Promise<Cell> {
  const database = await createTestDatabase();
  const server = await startServerProcess({
    ...{ SVC_DATABASE_URL: database.tcpUrl, SVC_VAULT_KEY: vault, SVC_CELL: name, SVC_ENDPOINT_CIDRS: "127.0.0.0/8" },
    // Each cell has a project of its own under this key.
    SVC_BOOTSTRAP_KEY: `bootstrap-key-of-the-cell-${name}-0123456789`,
  });
  return { name, database, server };
}

/** Runs a command with the variables of a cell, and returns what it printed. */
async function command(cell: Cell, variables: Record<string, string>, ...argv: string[]): Promise<string> {
  const printed: string[] = [];
  const noted: string[] = [];
  const code = await runCommand(argv, {
    environment: openEnvironment({
      ...{ SVC_DATABASE_URL: cell.database.tcpUrl, SVC_VAULT_KEY: vault, SVC_CELL: cell.name, ...variables },
    }),
    print: (line) => void printed.push(line),
    note: (line) => void noted.push(line),
    style: (_style, text) => text,
    readInput: async () => Buffer.alloc(0),
    terminal: undefined,
    screen: undefined,
    untilInterrupted: () => new AbortController().signal,
  });
  if (code !== 0) throw new Error(`svc ${argv.join(" ")} ended with ${code}: ${noted.join("\n")}`);
  return printed.join("\n");
}

/** Writes the maps of both cells, and starts HAProxy or makes it read them again. */
async function route(): Promise<void> {
  const maps = await Promise.all(cells.map((cell) => command(cell, {}, "cells", "config", "--haproxy")));
  await writeFile(join(folder, "cells.map"), `${maps.join("\n")}\n`);
  const [one, two] = cells;
  const rules = (await readFile(new URL("../deploy/haproxy/cells.cfg", import.meta.url), "utf8"))
    .replaceAll("/etc/haproxy/cells.map", join(folder, "cells.map"))
    .replace(":8080", front.slice("http://".length))
    .replace("127.0.0.1:8081", `127.0.0.1:${one.server.port}`)
    .replace("127.0.0.1:8082", `127.0.0.1:${two.server.port}`);
  const file = join(folder, "haproxy.cfg");
  await writeFile(file, rules);
  if (haproxy !== undefined) {
    haproxy.kill("SIGUSR2");
    return;
  }
  haproxy = spawn("haproxy", ["-W", "-db", "-f", file], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [haproxy.stdout, haproxy.stderr]) stream?.on("data", (chunk: Buffer) => (output += chunk));
  await until(async () => {
    if (haproxy?.exitCode !== null) throw new Error(`the service ended: ${output}`);
    return (await fetch(`${front}/readyz`)).ok;
  });
}

async function call(url: string, path: string, key: string, body: object): Promise<{ status: number; json: Json }> {
  const answer = await fetch(`${url}/svc.v1.${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Json };
}

const ok = async (url: string, path: string, key: string, body: object): Promise<Json> => {
  const { status, json } = await call(url, path, key, body);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
  return json;
};

/** Creates a project with an approver key in a cell. */
async function createProject({ server }: Cell, name: string): Promise<{ id: string; key: string }> {
  const { project } = await ok(server.url, "AdminService/CreateProject", adminToken, { name });
  const { key } = await ok(server.url, "AdminService/CreateApiKey", adminToken, {
    ...{ projectId: project?.["id"], name: "app", role: "ROLE_APPROVER" },
  });
  return { id: String(project?.["id"]), key: String(key) };
}

/** Posts a ticket to a webhook path through HAProxy. */
async function postTicket(path: string, id: string): Promise<number> {
  const body = JSON.stringify({ type: "ticket.opened", id, customer: "ada", subject: "It is broken" });
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const headers = { "content-type": "application/json", "x-desk-signature": signature };
  const answer = await fetch(`${front}${path}`, { method: "POST", headers, body });
  await answer.arrayBuffer();
  return answer.status;
}

beforeAll(async () => {
  if (!hasHaproxy) return;
  folder = await mkdtemp(join(tmpdir(), "cells-"));
  front = `http://127.0.0.1:${await freePort()}`;
  receiver = await startTestReceiver();
  cells = await Promise.all([startCell("c1"), startCell("c2")]);
  await route();
}, 240_000);

afterAll(async () => {
  if (!hasHaproxy) return;
  if (haproxy !== undefined) {
    haproxy.kill("SIGTERM");
    await once(haproxy, "exit");
  }
  for (const { server, database } of cells) {
    await server.end("SIGTERM");
    await database.drop();
  }
  await receiver[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
}, 60_000);

test.skipIf(!hasHaproxy)("keys, webhook paths and console links of each cell reach their own cell", async () => {
  for (const cell of cells) {
    const { name } = cell;
    const { id, key } = await createProject(cell, `own-${name}`);
    expect(id).toMatch(new RegExp(`^prj_[0-9a-z]{22}00${name}$`));
    expect(key).toMatch(new RegExp(`^svc_${name}_`));
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(await ok(front, "IdentityService/GetIdentity", key, {})).toMatchObject({ projectId: id });
    await ok(front, "CatalogService/PublishToolkit", key, { definitionJson: deskDefinition() });
    await ok(front, "TriggersService/PutWebhookSecret", key, { toolkitSlug: "desk", value: secret });
    let paths: string[] = [];
    await until(async () => {
      const { endpoints } = await ok(front, "TriggersService/ListIngestEndpoints", key, { projectId: id });
      paths = (endpoints as unknown as { path: string }[]).map(({ path }) => path);
      return paths.includes(`/webhooks/${name}/${id}/desk`);
    });
    expect(paths.every((path) => path.startsWith(`/webhooks/${name}/`))).toBe(true);
    // The path with the cell, and the path that the project would have without one.
    await until(async () => (await postTicket(`/webhooks/${name}/${id}/desk`, `a-${name}`)) === 202);
    expect(await postTicket(`/webhooks/${id}/desk`, `b-${name}`)).toBe(202);
    const { events } = await ok(front, "TriggersService/ListEvents", key, {});
    expect(events).toHaveLength(2);
    const { url } = await ok(front, "ConsoleService/CreateSignInLink", key, {});
    const link = new URL(String(url));
    expect(link.pathname).toBe(`/console/${name}/`);
    const opened = await fetch(`${front}${link.pathname}`, { redirect: "manual" });
    expect([opened.status, opened.headers.get("location")]).toEqual([302, "/console/"]);
    expect(opened.headers.get("set-cookie")).toContain(`svc_cell=${name};`);
  }
  // A cookie routes a browser whose paths name no cell. The sign-in link of a cell is known to that cell alone.
  const [, two] = cells;
  const asked = await fetch(`${front}/webhooks/c2/calendar`, { method: "POST", body: "{}" });
  expect(asked.status).not.toBe(404);
  expect((await call(two.server.url, "IdentityService/GetIdentity", "svc_c1_wrong", {})).status).toBe(401);
});

/** Largest number of posts of a sender that wait for an answer or for their next try. */
const underWayMax = 100;

/** A sender that posts again until a post is accepted, as senders of webhooks do. */
function startSender(perSecond: number, send: (id: string) => Promise<number>) {
  const accepted = new Set<string>();
  const refusals = new Map<number, number>();
  let isStopped = false;
  let isEnded = false;
  const underWay = new Set<Promise<void>>();
  const post = async (id: string) => {
    while (!isEnded) {
      const status = await send(id).catch(() => 0);
      if (status === 200 || status === 202) return void accepted.add(id);
      refusals.set(status, (refusals.get(status) ?? 0) + 1);
      await wait(500);
    }
  };
  const sending = (async () => {
    for (let sent = 0, beganMs = performance.now(); !isStopped; ) {
      for (const due = ((performance.now() - beganMs) / 1_000) * perSecond; sent < due; sent++) {
        // A machine that is too slow for the rate posts less.
        if (underWay.size >= underWayMax) continue;
        const one = post(randomUUID()).finally(() => underWay.delete(one));
        underWay.add(one);
      }
      await wait(10);
    }
  })();
  /** Stops new posts, and waits until those under way are accepted. */
  const stop = async () => {
    isStopped = true;
    await sending;
    await Promise.all(underWay);
  };
  return {
    accepted,
    refusals,
    stop,
    /** Stops at once. */
    end: () => {
      isEnded = true;
      return stop();
    },
  };
}

test.skipIf(!hasHaproxy)(
  "a project moves under 100 posts a second, and nothing of it is lost",
  async () => {
    const [one, two] = cells;
    const { id, key } = await createProject(one, "moving");
    await ok(front, "CatalogService/PublishToolkit", key, { definitionJson: deskDefinition() });
    await ok(front, "TriggersService/PutWebhookSecret", key, { toolkitSlug: "desk", value: secret });
    const { subscription } = await ok(front, "TriggersService/CreateSubscription", key, { endpointUrl: receiver.url });
    expect(subscription).toBeDefined();
    await ok(front, "SecretsService/PutSecret", key, { name: "token", value: "a-value-that-is-kept" });
    const type = { name: "ticket.noted", description: "A note about a ticket.", schemaJson: '{"type":"object"}' };
    await ok(front, "TriggersService/PutEventType", key, { ...type, sampleJson: '{"name":"a"}' });
    const program = { version: 1, title: "Wait", steps: [{ id: "pause", wait: "20s" }] };
    const { job } = await ok(front, "JobsService/SubmitJob", key, { programJson: JSON.stringify(program) });
    const path = `/webhooks/c1/${id}/desk`;
    const posts = startSender(50, (ticket) => postTicket(path, ticket));
    const published = startSender(50, async (name) => {
      const payloadJson = JSON.stringify({ name });
      const body = { type: "ticket.noted", payloadJson, key: name };
      return (await call(front, "TriggersService/PublishEvent", key, body)).status;
    });
    await using _senders = {
      [Symbol.asyncDispose]: async () => void (await Promise.all([posts.end(), published.end()])),
    };
    await until(() => posts.accepted.size > 100 && published.accepted.size > 100);
    const moved = await command(
      one,
      { SVC_MOVE_DATABASE_URL: two.database.tcpUrl },
      ...["projects", "move", "moving", "--to", "c2", "--wait", "5s", "--json"],
    );
    expect(JSON.parse(moved)).toMatchObject({ projectId: id, cell: "c2" });
    const acceptedBefore = [posts.accepted.size, published.accepted.size];
    await route();
    await until(
      () =>
        posts.accepted.size > Number(acceptedBefore[0]) + 100 &&
        published.accepted.size > Number(acceptedBefore[1]) + 100,
    );
    await Promise.all([posts.stop(), published.stop()]);
    // The refusals are those that senders answer with another try.
    expect(
      [...posts.refusals.keys(), ...published.refusals.keys()].filter((status) => status !== 503 && status !== 0),
    ).toEqual([]);
    const stored = await two.database.db.sql<{ payload: string }[]>`select payload from events where kind = 'event'`;
    const payloads = stored.map(({ payload }) => payload).join("\n");
    const lost = [...posts.accepted, ...published.accepted].filter((name) => !payloads.includes(name));
    expect(lost).toEqual([]);
    await until(() => {
      const bodies = receiver.requests.map(({ body }) => body.toString()).join("\n");
      return [...posts.accepted, ...published.accepted].every((name) => bodies.includes(name));
    });
    // The key of the old cell works through the proxy, and the job goes on where it was.
    expect(await ok(front, "IdentityService/GetIdentity", key, {})).toMatchObject({ projectId: id });
    await until(async () => {
      const found = await ok(front, "JobsService/GetJob", key, { id: job?.["id"] });
      return String(found["job"]?.["status"]) === "JOB_STATUS_SUCCEEDED";
    });
    // The old cell refuses what still reaches it, in a way that senders try again.
    const old = await call(one.server.url, "IdentityService/GetIdentity", key, {});
    expect([old.status, JSON.stringify(old.json)]).toEqual([503, expect.stringContaining("PROJECT_MOVING")]);
    await command(
      one,
      { SVC_MOVE_DATABASE_URL: two.database.tcpUrl },
      "projects",
      "move",
      "moving",
      "--to",
      "c2",
      "--remove",
    );
    const left = await one.database.db.sql`select 1 from projects where name = 'moving'`;
    expect(left).toHaveLength(0);
  },
  240_000,
);
