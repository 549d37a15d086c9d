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
