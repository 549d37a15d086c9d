import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

let server: TestServer;
let home: string;
let key: string;

beforeAll(async () => {
  server = await startTestServer();
  const { project } = (await server.admin("CreateProject", { name: "billing" })).json;
  key = (await server.admin("CreateApiKey", { projectId: project.id, role: "ROLE_MEMBER", name: "laptop" })).json.key;
});
afterAll(async () => server?.stop());
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-login-"));
  return () => rm(home, { recursive: true });
});

const run = (line: string, variables: Record<string, string> = {}, input = "") =>
  runTestCommand(line.split(" "), { HOME: home, ...variables }, input);
const file = () => join(home, ".config/svc/profiles.json");

test("a command after a login uses its service and key, until the logout", async () => {
  expect(await run(`login ${server.url}/ --profile work`, {}, `${key}\n`)).toMatchObject({
    code: 0,
    printed: [`logged in to ${server.url} as member of billing; profile work`],
  });
  const { printed } = await run("whoami");
  expect(printed[0]).toMatch(/^project {2}billing /);
  expect(printed.join("\n")).toContain("the key comes from the profile work");
  expect((await run("use")).printed.at(-1)).toBe(`work     ${server.url}  current`);
  expect((await run("logout")).printed).toEqual(["removed the profile work"]);
  expect(await readFile(file(), "utf8")).not.toContain(key);
  expect((await run("use")).noted).toEqual(["There is no profile: `svc login <url>` makes one."]);
});

test("only the user can read the stored keys, and no output has them", async () => {
  const login = await run(`login ${server.url} --api-key ${key} --json`);
  expect(JSON.parse(login.printed.join(""))).toEqual({
    ...{ profile: "127.0.0.1", url: server.url, projectName: "billing" },
    file: file(),
  });
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect((await stat(join(home, ".config/svc"))).mode & 0o777).toBe(0o700);
  for (const line of ["use", "use --json", "whoami", "use 127.0.0.1"])
    expect((await run(line)).printed.join("\n")).not.toContain(key);
});

test("a refused key stores nothing", async () => {
  const { code, noted } = await run(`login ${server.url}`, {}, "svc_wrong");
  expect(code).toBe(1);
  expect(noted.join()).toMatch(/key/);
  await expect(stat(file())).rejects.toThrow("ENOENT");
});

test("variables of a service are stronger than a profile that the user did not name, and weaker than one that he named", async () => {
  await run(`login ${server.url} --profile work --api-key ${key}`);
  // Neither the key of the profile nor that of the variables reaches the service of the other.
  const closed = "http://127.0.0.1:1";
  expect((await run("whoami", { SVC_URL: closed, SVC_API_KEY: "svc_other" })).noted.join()).toContain(closed);
  const apart = await run("whoami", { SVC_API_KEY: "svc_other", SVC_PORT: "1" });
  expect(apart.noted.join()).toContain(closed);
  expect((await run("whoami --profile work", { SVC_URL: closed, SVC_API_KEY: "svc_other" })).code).toBe(0);
  expect((await run("whoami", { SVC_PROFILE: "work" })).code).toBe(0);
  const admin = await run("projects list --profile work", { SVC_ADMIN_TOKEN: "a".repeat(32) });
  expect(admin.noted).toEqual(["svc: the profile work has no administrator token: give --admin-token"]);
  // A key that the user types without an address is for the service of this machine.
  expect((await run("whoami --api-key svc_other", { SVC_PORT: "1" })).noted.join()).toContain(closed);
  const both = await run(`whoami --profile work --url ${closed}`);
  expect(both).toMatchObject({ code: 2, noted: ["svc: give --url or --profile, not both: a profile has an address"] });
});

test.each([
  ["whoami --profile home", 'svc: there is no profile "home"; there are work'],
  ["use home", 'svc: there is no profile "home"; there are work'],
  ["logout home", 'svc: there is no profile "home"; there are work'],
  ["logout __proto__", 'svc: there is no profile "__proto__"; there are work'],
  ["use ../work", 'svc: there is no profile "../work"; there are work'],
])("%s names the known profiles", async (line, message) => {
  await run(`login ${server.url} --profile work --api-key ${key}`);
  expect(await run(line)).toMatchObject({ code: 1, noted: [message] });
});

test("a profile of another address is not replaced unasked, and the first key stays on this machine", async () => {
  await run(`login ${server.url} --api-key ${key}`);
  const other = await run(`login http://127.0.0.1:1 --api-key ${key}`);
  expect(other).toMatchObject({ code: 1, noted: [expect.stringContaining(`is that of ${server.url}; name another`)] });
  const foreign = await run("whoami --url http://svc.invalid", { SVC_DATA_DIR: home });
  expect(foreign.noted).toEqual([expect.stringContaining("no API key for http://svc.invalid")]);
});

test("a name with other characters is refused, and so is a file of another form", async () => {
  const refused = await run(`login ${server.url} --profile a/b --api-key ${key}`);
  expect(refused).toMatchObject({ code: 2, noted: [expect.stringContaining('"a/b" is not a name of a profile')] });
  await run(`login ${server.url} --api-key ${key}`);
  for (const text of ["", "[]", '{"profiles":{"work":{"url":1}}}']) {
    await writeFile(file(), text);
    const { code, noted } = await run("whoami");
    expect([code, noted]).toEqual([1, [expect.stringContaining("is not a file of profiles; delete it")]]);
  }
});
