import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

let server: TestServer;
let variables: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  variables = { SVC_URL: server.url, SVC_API_KEY: server.key };
});
afterAll(() => server.stop());

const run = (...args: string[]) => runTestCommand(["limits", ...args], variables);

test("a limit is put, replaced, listed and deleted", async () => {
  const put = ["put", "calendar", "--toolkit", "calendar", "--key", "accountId"];
  expect(await run(...put, "--rate", "10/1m", "--concurrency", "4")).toMatchObject({
    code: 0,
    printed: ["calendar: 4 at once, 10 in 1m"],
  });
  expect(await run("put", "all", "--paused")).toMatchObject({ code: 0, printed: ["all: paused"] });
  expect((await run()).printed).toEqual([
    expect.stringMatching(/^NAME +TOOLKIT +HOLDS CALLS TO +KEY/),
    expect.stringMatching(/^all +- +paused +-/),
    expect.stringMatching(/^calendar +calendar +4 at once, 10 in 1m +accountId/),
  ]);
  expect(await run(...put, "--rate", "5/1h")).toMatchObject({ printed: ["calendar: 5 in 1h"] });
  expect(await run("delete", "calendar")).toMatchObject({ code: 0, printed: ["calendar is deleted"] });
  expect(await run("delete", "calendar")).toMatchObject({
    code: 1,
    noted: [expect.stringContaining("CALL_LIMIT_NOT_FOUND")],
  });
});

test.each(["10", "10/", "10/soon", "x/1s"])("a rate of %s is refused before anything is sent", async (rate) => {
  const { code, noted } = await run("put", "l", "--rate", rate);
  expect(code).toBe(2);
  expect(noted.join(" ")).toContain("10/1s");
});

test("a key that names nothing is told the names that CEL knows", async () => {
  const { noted } = await run("put", "l2", "--key", "nosuch", "--rate", "10/1s");
  expect(noted.join(" ")).toMatch(/--key names nosuch; there are toolSlug, entityId, accountId, .*accessClass/);
  expect(noted.join(" ")).toContain("CEL over toolSlug, entityId, accountId and accessClass");
  expect((await run("put", "l2", "--toolkit", "nosuchkit", "--paused")).noted.join(" ")).toContain(
    '--toolkit "nosuchkit" is not a toolkit',
  );
});

test("counts are held to the server's bounds, each side of them", async () => {
  expect(await run("put", "widest", "--concurrency", "10000", "--rate", "100000/1s")).toMatchObject({ code: 0 });
  for (const [beyond, most] of [
    [["--concurrency", "10001"], "from 1 to 10000"],
    [["--rate", "100001/1s"], "from 1 to 100000"],
  ] as const) {
    const { code, noted } = await run("put", "wider", ...beyond);
    expect({ code, text: noted.join(" ") }).toEqual({ code: 2, text: expect.stringContaining(most) });
  }
});

test.each([
  [["put", "l3"], "--concurrency and --rate are missing, and the limit is not paused (CALL_LIMIT_BOUND_INVALID)."],
  [["put", "l3", "--rate", "10/2d"], "the time of --rate is 2d (CALL_LIMIT_BOUND_INVALID)."],
  [["put", "Writes", "--paused"], 'the name "Writes" is not a name: a lower-case letter'],
])("a refusal of `svc limits %j` names what the command takes", async (args, text) => {
  const { code, noted } = await run(...args);
  expect({ code, noted }).toEqual({ code: 1, noted: [expect.stringContaining(text)] });
  expect(noted.join()).not.toMatch(/limit\.|\{max|Send concurrency/);
});

test("missing bounds are told with the options that set them", async () => {
  expect((await run("put", "l3")).noted.join()).toContain(
    "Give --concurrency from 1 to 10,000, --rate such as 10/1s (calls from 1 to 100,000, a time from 1s to 1 day), or both; --paused needs neither.",
  );
});
