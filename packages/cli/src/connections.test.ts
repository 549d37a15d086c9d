import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "./test-command.ts";

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
  const row = expect.stringMatching(new RegExp(`^${id} {2}messaging_bot {2}dora {4}api_key {2}active {2}\\S+Z +-$`));
  const listed = await svc("connections", "--entity", "dora");
  expect(listed.printed).toEqual([
    expect.stringMatching(/^ID +TOOLKIT +ENTITY +SCHEME +STATE +CONNECTED +LAST ERROR$/),
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
  // What the app itself gave comes with them.
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
