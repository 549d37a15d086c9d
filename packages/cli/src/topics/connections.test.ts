import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
});
afterAll(() => server.stop());

function variables(): Record<string, string> {
  return { SVC_URL: server.url, SVC_API_KEY: server.key };
}

function svc(...argv: string[]) {
  return runTestCommand(argv, variables());
}

test("connections lists accounts by their filters, and delete revokes one", async () => {
  const { printed } = await svc("connect", "messaging_bot", "--entity", "dora");
  const [id = ""] = printed;
  const row = expect.stringMatching(
    new RegExp(`^${id} {2}messaging_bot {2}dora {4}api_key {2}active {2}not tested: sandbox {2}\\S+Z +-$`),
  );
  const listed = await svc("connections", "--entity", "dora");
  expect(listed.printed).toEqual([
    expect.stringMatching(/^ID +TOOLKIT +ENTITY +SCHEME +STATE +CREDENTIAL +CONNECTED +LAST ERROR$/),
    row,
  ]);
  const deleted = await svc("connections", "delete", id);
  expect(deleted).toMatchObject({ code: 0, printed: [`${id} is revoked; its credentials are erased`] });
  const json = await svc("connections", "list", "--entity", "dora", "--json");
  expect(JSON.parse(json.printed.join("\n"))).toMatchObject([{ id, entityId: "dora", state: "revoked" }]);
  const active = await svc("connections", "list", "--entity", "dora", "--state", "active");
  expect(active.printed).toHaveLength(1);
});

test("no answer of connections holds the key that was given", async () => {
  await runTestCommand(["connect", "messaging_bot", "--entity", "fay", "--key-stdin"], variables(), "secret-marker-2");
  const { printed } = await svc("connections", "--entity", "fay");
  const [id = ""] = /acc_\w+/.exec(printed[1] ?? "") ?? [];
  const shown = await svc("connections", "show", id);
  expect(JSON.parse(shown.printed.join("\n"))).toMatchObject({ id, entityId: "fay", state: "active" });
  expect([...printed, ...shown.printed].join("\n")).not.toContain("secret-marker");
  expect(server.logs.join("\n")).not.toContain("secret-marker");
});

test("connections references sets all of them, prints what the account then has, and --clear takes them away", async () => {
  const [id = ""] = (await svc("connect", "messaging_bot", "--entity", "gil")).printed;
  const set = await svc("connections", "references", id, "channel-7", "channel-8");
  expect(set).toMatchObject({ code: 0, noted: [] });
  // The account now also has the reference that the app itself returned when the account was connected.
  expect(set.printed).toEqual(expect.arrayContaining(["channel-7", "channel-8"]));
  const own = set.printed.filter((reference) => !reference.startsWith("channel-"));
  expect((await svc("connections", "references", id, "channel-9")).printed.toSorted()).toEqual(
    [...own, "channel-9"].toSorted(),
  );
  const cleared = await svc("connections", "references", id, "--clear", "--json");
  expect(JSON.parse(cleared.printed.join("\n")).references).toEqual(own);
});

test("a reference that another account holds is refused with its reason", async () => {
  const [first = "", second = ""] = await Promise.all(
    ["hal", "ida"].map(async (entity) => (await svc("connect", "messaging_bot", "--entity", entity)).printed[0]),
  );
  expect(await svc("connections", "references", first, "team-7")).toMatchObject({ code: 0 });
  const taken = await svc("connections", "references", second, "team-7");
  expect(taken).toMatchObject({ code: 1, printed: [], noted: [expect.stringContaining("REFERENCE_TAKEN")] });
});

/** Starts an app on this machine that accepts one key, and a server outside the sandbox with a toolkit that calls this app. */
async function startRealWorld() {
  const answers = { status: 200 };
  const app = createServer((req, res) => {
    const isKnown = Object.values(req.headers).some((value) => String(value).includes("right-key"));
    const status = isKnown ? answers.status : 401;
    res.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  await once(app.listen(0, "127.0.0.1"), "listening");
  const { port } = app.address() as AddressInfo;
  const folder = await mkdtemp(join(tmpdir(), "svc-cli-"));
  const path = join(folder, "deployment.json");
  const toolkits = { search_ingestion: { provider_base_url: `http://127.0.0.1:${port}` } };
  await writeFile(path, JSON.stringify({ toolkits }));
  const real = await startTestServer({ variables: { SVC_SANDBOX: "off", SVC_DEPLOYMENT: path } });
  const run = (argv: readonly string[], input?: string) =>
    runTestCommand(argv, { SVC_URL: real.url, SVC_API_KEY: real.key }, input);
  return {
    answers,
    run,
    connect: (entity: string, key: string) =>
      run(["connect", "search_ingestion", "--entity", entity, "--key-stdin"], key),
    async [Symbol.asyncDispose]() {
      await real.stop();
      app.closeAllConnections();
      app.close();
      await rm(folder, { recursive: true });
    },
  };
}

test("connections test says works, refused or unknown, with a status of its own; list and show say what is known since", async () => {
  await using world = await startRealWorld();
  const { run } = world;
  const credentialOf = async (id: string) => {
    const line = (await run(["connections"])).printed.find((text) => text.startsWith(id));
    return /active +(.*?) {2}|expired +(.*?) {2}/
      .exec(line ?? "")
      ?.slice(1)
      .join("");
  };
  const right = await world.connect("ada", "right-key");
  const [id = ""] = right.printed;
  expect(right.noted.join("\n")).toContain(`The credential was stored but not tested`);
  expect(right.noted.join("\n")).toContain(`\`svc connections test ${id}\``);
  expect(await credentialOf(id)).toBe("not tested yet");
  const works = await run(["connections", "test", id]);
  expect(works).toMatchObject({ code: 0, noted: [] });
  expect(works.printed[0]).toMatch(
    /^works: the app answered .* with 200 \(search_ingestion\.list_transformations, HTTP 200, .*Z\)$/,
  );
  expect(await credentialOf(id)).toMatch(/^worked at \S+Z$/);
  expect((await run(["connections", "show", id])).noted[0]).toMatch(/^Credential: worked at \S+Z$/);
  world.answers.status = 500;
  const unknown = await run(["connections", "test", id]);
  expect(unknown).toMatchObject({ code: 3, printed: [expect.stringMatching(/^unknown: .*HTTP 500/)] });
  const [wrong = ""] = (await world.connect("bob", "wrong-key")).printed;
  const refused = await run(["connections", "test", wrong]);
  expect(refused).toMatchObject({ code: 1, printed: [expect.stringMatching(/^refused: .*HTTP 401/)] });
  expect(refused.noted.join("\n")).toContain("connect it again with `svc connect`");
  expect(await credentialOf(wrong)).toMatch(/^refused at \S+Z$/);
  const json = await run(["connections", "test", id, "--json"]);
  expect(JSON.parse(json.printed.join("\n"))).toMatchObject({ outcome: "unknown", providerStatus: 500 });
});

test("in the sandbox connections test says that nothing was tried", async () => {
  const [id = ""] = (await svc("connect", "messaging_bot", "--entity", "kim")).printed;
  const { code, printed } = await svc("connections", "test", id);
  expect(code).toBe(3);
  expect(printed[0]).toMatch(/^unknown: nothing was tried: the sandbox answers in place of the app.*\(nothing sent, /);
});

test("a list that a bound key may read in part says so once, and its table and JSON stay as they are", async () => {
  const { json } = await server.admin("ListProjects");
  const projectId = json.projects[0].id;
  const binding = { entityId: "lea", toolkitSlugs: ["calendar"] };
  const made = await server.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "lea", ...binding });
  const bound = (...argv: string[]) => runTestCommand(argv, { SVC_URL: server.url, SVC_API_KEY: made.json.key });
  const said = 'Your key can read only the entity "lea" and tools of calendar: the list leaves out everything else.';
  expect(await bound("connections")).toMatchObject({ code: 0, printed: [expect.stringMatching(/^ID/)], noted: [said] });
  for (const argv of [["connections", "--json"], ["jobs"], ["events"], ["tool-calls"], ["asks"], ["standing"]]) {
    expect((await bound(...argv)).noted.filter((line) => line.startsWith("Your key"))).toEqual([said]);
  }
  expect(JSON.parse((await bound("connections", "--json")).printed.join(""))).toEqual([]);
  const search = await bound("search", "list events");
  expect(search.noted.join("\n")).toContain("Your key can read only tools of calendar");
  expect((await svc("connections")).noted).toEqual([]);
});
