import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAddressGuard, createId, type ProjectId } from "@svc/core";
import { expect, onTestFinished, test } from "vitest";
import type { AppAnswer, AppCall } from "./app-transport.ts";
import { createAppTransport, type TransportLimits } from "./network-transport.ts";

// Tests that the calls of one project (running or waiting) and their memory do not affect other projects.

/** Starts an app that answers only when the test calls `open`. By default, the answer is the argument of `open`. */
async function startApp(listener?: RequestListener) {
  const held: { path: string; res: ServerResponse }[] = [];
  let connections = 0;
  const server = createServer(listener ?? ((req, res) => void held.push({ path: req.url ?? "", res })));
  server.on("connection", (socket) => {
    connections++;
    socket.on("close", () => connections--);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return {
    held,
    paths: () => held.map(({ path }) => path),
    connections: () => connections,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
}

function startTransport(limits: Partial<TransportLimits> = {}) {
  const guard = createAddressGuard({ allowedRanges: ["127.0.0.1/32"] });
  const transport = createAppTransport({ guard, limits });
  onTestFinished(() => transport.close());
  const projectOf = (isPrivate: boolean) => {
    const projectId: ProjectId = createId("prj", 1);
    const call = { projectId, toolkit: { ownerProjectId: isPrivate ? projectId : "" } } as AppCall;
    return (url: string, timeoutMs = 5_000): Promise<AppAnswer> =>
      transport.send({ method: "GET", url, headers: {}, body: undefined }, call, { timeoutMs });
  };
  return {
    ...transport,
    project: () => projectOf(false),
    privateProject: () => projectOf(true),
  };
}

const until = (condition: () => boolean) => expect.poll(condition, { timeout: 5_000, interval: 2 }).toBe(true);
const many = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));
test("one project's calls that hang hold up no other project's at the same origin", async () => {
  const app = await startApp((req, res) => void (req.url === "/quick" && res.end("ok")));
  const transport = startTransport();
  const [slow, other] = [transport.privateProject(), transport.project()];
  const hanging = many(200, () => slow(`${app.url}/hang`, 1_000));
  expect(await other(`${app.url}/quick`, 900)).toMatchObject({ kind: "answer", status: 200 });
  expect(new Set((await Promise.all(hanging)).map(({ kind }) => kind))).toEqual(new Set(["timeout"]));
});

test("at one origin a project has 16 calls of private toolkits under way, and 32 of shared ones", async () => {
  for (const [most, sendOf] of [
    [16, (transport: ReturnType<typeof startTransport>) => transport.privateProject()],
    [32, (transport: ReturnType<typeof startTransport>) => transport.project()],
  ] as const) {
    const app = await startApp();
    const transport = startTransport();
    const send = sendOf(transport);
    const calls = many(most + 5, (index) => send(`${app.url}/${index}`));
    // This request of another project is sent last. If the project's requests were still to come, they would arrive before it.
    const last = transport.project()(`${app.url}/last`);
    await until(() => app.paths().includes("/last"));
    expect(app.held).toHaveLength(most + 1);
    // When an answer ends, the request that has waited longest may start.
    app.held[0]?.res.end();
    await until(() => app.held.length > most + 1);
    expect(app.paths().at(-1)).toBe(`/${most}`);
    const answered = setInterval(() => app.held.forEach(({ res }) => void res.end()), 5);
    expect(new Set((await Promise.all([last, ...calls])).map(({ kind }) => kind))).toEqual(new Set(["answer"]));
    clearInterval(answered);
  }
});

test("beyond so many that wait a project's calls are unreachable at once, and say why; another project's are not", async () => {
  const app = await startApp();
  const elsewhere = await startApp((_req, res) => void res.end("ok"));
  const transport = startTransport({ sharedAtOrigin: 2, waiting: 3 });
  const [busy, other] = [transport.project(), transport.project()];
  const calls = many(5, () => busy(app.url));
  const message = "too many calls of this project are under way; try again later";
  expect(await busy(app.url)).toEqual({ kind: "unreachable", message });
  const others = other(app.url);
  await until(() => app.held.length === 3);
  // Calls of the project to another app need not wait.
  expect(await busy(elsewhere.url)).toMatchObject({ kind: "answer" });
  const answered = setInterval(() => app.held.forEach(({ res }) => void res.end()), 5);
  expect(await others).toMatchObject({ kind: "answer" });
  expect((await Promise.all(calls)).map(({ kind }) => kind)).toEqual(many(5, () => "answer"));
  clearInterval(answered);
});

test("a project's calls under way are bounded over all of its origins", async () => {
  const apps = await Promise.all(many(3, () => startApp()));
  const transport = startTransport({ underWay: 2 });
  const send = transport.project();
  const calls = apps.map(({ url }) => send(url));
  const held = () => apps.flatMap((app) => app.held);
  const last = transport.project()(`${apps[2]!.url}/last`);
  await until(() => held().some(({ path }) => path === "/last"));
  expect(held()).toHaveLength(3);
  held()[0]?.res.end();
  await until(() => held().length === 4);
  for (const { res } of held()) res.end();
  expect((await Promise.all([last, ...calls])).map(({ kind }) => kind)).toEqual(many(4, () => "answer"));
});

test("calls that wait when the transport is closed are answered", async () => {
  const app = await startApp();
  const transport = startTransport({ sharedAtOrigin: 1 });
  const send = transport.project();
  const calls = [send(app.url), send(app.url)];
  await until(() => app.held.length === 1);
  await transport.close();
  const [underWay, waiting] = await Promise.all(calls);
  expect(underWay).toMatchObject({ kind: "broken", sent: true });
  expect(waiting).toEqual({ kind: "unreachable", message: "the service is stopping" });
  expect(await send(app.url)).toMatchObject({ kind: "unreachable" });
});

test("connections to origins that are used no more are closed, those of the project with most of them first", async () => {
  const apps = await Promise.all(many(6, () => startApp((_req, res) => void res.end("ok"))));
  const transport = startTransport({ projectIdleAgents: 2, idleAgents: 3 });
  const [wild, other] = [transport.project(), transport.project()];
  await other(apps[0]!.url);
  for (const { url } of apps.slice(1)) await wild(url);
  expect(transport.stats().agents).toBe(3);
  await until(() => apps.slice(1, 4).every((app) => app.connections() === 0));
  expect(apps[0]!.connections()).toBe(1);
  await transport.project()(apps[1]!.url);
  expect(transport.stats().agents).toBe(3);
  await until(() => apps[0]!.connections() === 0);
});

const kibibyte = 1024;
const large = Buffer.alloc(700 * kibibyte);

test("answers beyond a project's room wait for it, and come whole", async () => {
  let written = 0;
  const app = await startApp((req, res) => {
    if (req.url === "/declared") res.setHeader("content-length", large.byteLength);
    res.flushHeaders();
    res.end(large, () => written++);
  });
  const transport = startTransport({ projectAnswerBytes: 1024 * kibibyte, patienceMs: 5_000 });
  const send = transport.project();
  let heldMax = 0;
  const watch = setInterval(() => {
    heldMax = Math.max(heldMax, transport.stats().answerBytes);
  }, 0);
  const answers = await Promise.all(many(8, () => send(`${app.url}/declared`)));
  clearInterval(watch);
  for (const answer of answers) {
    expect(answer.kind === "answer" && answer.body.byteLength).toBe(large.byteLength);
  }
  expect(written).toBe(8);
  expect(heldMax).toBeLessThanOrEqual(1024 * kibibyte);
  await until(() => transport.stats().answerBytes === 0);
});

test("an answer that finds no room in time ends as too large, whether its length is declared or not", async () => {
  const app = await startApp((req, res) => {
    if (req.url === "/declared") res.setHeader("content-length", large.byteLength);
    res.write(large);
    if (req.url !== "/hang") res.end();
  });
  const transport = startTransport({ projectAnswerBytes: 1024 * kibibyte, patienceMs: 100 });
  const send = transport.project();
  const hanging = send(`${app.url}/hang`, 1_500);
  await until(() => transport.stats().answerBytes === large.byteLength);
  const busy = { kind: "too_large", status: 200, isBusy: true };
  expect(await send(`${app.url}/declared`)).toEqual(busy);
  expect(await send(`${app.url}/chunked`)).toEqual(busy);
  expect(transport.stats().answerBytes).toBe(large.byteLength);
  // Another project has its own memory budget, so its request succeeds.
  expect(await transport.project()(`${app.url}/declared`)).toMatchObject({ kind: "answer" });
  expect(await hanging).toMatchObject({ kind: "timeout" });
  await until(() => transport.stats().answerBytes === 0);
});

test("when the node's room is taken, small answers still come", async () => {
  const app = await startApp((req, res) => {
    if (req.url === "/small") return void res.end(Buffer.alloc(10 * kibibyte));
    res.write(large);
    if (req.url !== "/hang") res.end();
  });
  const transport = startTransport({ nodeAnswerBytes: 1024 * kibibyte, patienceMs: 100 });
  const hanging = transport.project()(`${app.url}/hang`, 1_000);
  await until(() => transport.stats().answerBytes === large.byteLength);
  const other = transport.project();
  expect(await other(`${app.url}/large`)).toMatchObject({ kind: "too_large", isBusy: true });
  expect(await other(`${app.url}/small`)).toMatchObject({ kind: "answer", status: 200 });
  await hanging;
});
