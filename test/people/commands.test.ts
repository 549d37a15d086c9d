import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTestCommand, startCommand } from "@svc/cli/test-command";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBrowser, signIn } from "./browser.ts";
import { type PeopleServer, startPeopleServer } from "./server.ts";

// `svc people` and `svc login --browser` as a user runs them.

let people: PeopleServer;
let home: string;
beforeAll(async () => {
  people = await startPeopleServer();
  home = await mkdtemp(join(tmpdir(), "svc-people-"));
});
afterAll(async () => {
  await people?.stop();
  await rm(home, { recursive: true });
});

const run = (...argv: string[]) =>
  runTestCommand(argv, { SVC_URL: people.svc.url, SVC_ADMIN_TOKEN: people.svc.adminToken });

test("svc people invites, lists, changes and removes a person", async () => {
  const invited = await run("people", "invite", "--role", "viewer", "--mail", "ada@example.com");
  expect(invited).toMatchObject({ code: 0, noted: [expect.stringMatching(/^Works once, until 20/)] });
  const [url = ""] = invited.printed;
  people.account("ada");
  await signIn(people.svc, createBrowser(), { invitation: url.split("#")[1] ?? "" });
  const [person] = JSON.parse((await run("people", "list", "--json")).printed.join(""));
  expect(person).toMatchObject({ mail: "ada@example.com", seats: [{ role: "ROLE_VIEWER", active: true }] });
  expect((await run("people", "list")).printed[1]).toMatch(
    /^per_\w+ +ada@example.com +Name of ada +viewer of prj_\w+ +20/,
  );
  const raised = await run("people", "role", person.id, "--role", "approver");
  expect(raised.printed).toEqual([expect.stringMatching(/^per_\w+: approver of prj_/)]);
  const without = await run("people", "role", person.id, "--role", "none");
  expect(without.printed).toEqual([`${person.id}: no role in any project`]);
  expect((await run("people", "remove", person.id)).printed).toEqual([`${person.id} was removed`]);
  expect((await run("people", "list", "--json")).printed.join("")).toBe("[]");
});

test("svc login --browser stores a key with the role of the person who approves", async () => {
  people.account("bob", ["dev"]);
  const session = await signIn(people.svc);
  const running = startCommand(["login", people.svc.url, "--browser"], { XDG_CONFIG_HOME: home });
  const code = (await running.line(/compare the code/)).split(": ")[1] ?? "";
  const body = new URLSearchParams({ code, decision: "allow", half: session.half, seat: session.seats[0].keyId });
  const headers = { cookie: session.cookie, origin: people.svc.url };
  expect((await fetch(`${people.svc.url}/oauth/device`, { method: "POST", body, headers })).status).toBe(200);
  expect(await running.exitCode).toBe(0);
  expect(running.printed).toEqual([expect.stringContaining("as member of default; profile 127.0.0.1")]);
  const stored = await readFile(join(home, "svc/profiles.json"), "utf8");
  expect(stored).toContain("svc_");
});
