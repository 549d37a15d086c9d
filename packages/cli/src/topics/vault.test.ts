import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

let server: TestServer;
let variables: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  const admin = { SVC_ADMIN_TOKEN: server.adminToken, TOKEN: "marker-of-a-variable" };
  variables = { SVC_URL: server.url, SVC_API_KEY: server.key, ...admin };
});
afterAll(() => server.stop());

const run = (args: string[], input = "") => runTestCommand(["vault", ...args], variables, input);

test("a secret of the deployment is put, given another value, listed without it and deleted", async () => {
  expect(await run(["put", "embeddings_key", "--secret-stdin"], "marker-of-input\n")).toMatchObject({
    code: 0,
    printed: ["embeddings_key"],
    noted: [expect.stringContaining("SVC_EMBEDDINGS_KEY")],
  });
  const again = await run(["put", "embeddings_key", "--secret-env", "TOKEN", "--json"]);
  expect(JSON.parse(again.printed.join("\n"))).toMatchObject({ name: "embeddings_key" });
  const listed = await run(["list"]);
  expect(listed.printed).toEqual([
    expect.stringMatching(/^NAME +CREATED +VALUE OF/),
    expect.stringMatching(/^embeddings_key +20\S+Z +20\S+Z/),
  ]);
  const shown = [...again.printed, ...listed.printed, ...(await run(["list", "--json"])).printed, ...server.logs];
  expect(shown.join("\n")).not.toContain("marker");
  expect(await run(["delete", "embeddings_key"])).toMatchObject({ code: 0, printed: ["embeddings_key was erased"] });
  expect(await run(["delete", "embeddings_key"])).toMatchObject({
    code: 1,
    noted: [expect.stringContaining("`svc vault list`")],
  });
});

test("a value that no header holds is refused and not quoted, and so is another name", async () => {
  const refused = await run(["put", "embeddings_key", "--secret-stdin"], "marker with spaces");
  expect(refused).toMatchObject({ code: 1, noted: [expect.stringContaining("DEPLOYMENT_SECRET_INVALID")] });
  expect(refused.noted.join()).not.toContain("marker");
  const other = await run(["put", "billing_token", "--secret-stdin"], "marker-of-input");
  expect(other).toMatchObject({ code: 1, noted: [expect.stringContaining("embeddings_key")] });
});
