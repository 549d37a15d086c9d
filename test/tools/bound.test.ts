import { readFile } from "node:fs/promises";
import { runTestCommand, startCommand } from "@svc/cli/test-command";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openBrowser } from "./browser.ts";
import { callTool, connect } from "./project.ts";
import { type Provider, reply, startProvider } from "./provider.ts";

// A project binds shared toolkits to stand-ins of real apps, while the sandbox plays the other toolkits.

let app: Provider;
let server: TestServer;

beforeAll(async () => {
  app = await startProvider();
  server = await startTestServer({ variables: { SVC_SANDBOX: "on" } });
});
afterAll(async () => {
  await server?.stop();
  await app.close();
});
beforeEach(() => app.reset());

const keys = { APP_KEY: "right-key", OTHER_KEY: "wrong-key", CLIENT_SECRET: "client-secret" };

const variables = () => ({ SVC_URL: server.url, SVC_API_KEY: server.key, ...keys });

async function svc(...words: string[]) {
  const { code, printed, noted } = await runTestCommand(words, variables());
  return { code, printed, noted: noted.join("\n") };
}

const pipeline = { id: 7, name: "Sales", order_nr: 1, is_deal_probability_enabled: true };

/** A CRM with the key in a header of its own name. Rows have the fields of version 2 unless `row` says otherwise. */
function startCrm({ row = pipeline as object, rows = "data" } = {}) {
  app.answer = ({ path, headers }, res) => {
    if (!path.startsWith("/crm/api/v2/")) return reply(res, { error: "no such page" }, { status: 404 });
    if (headers["x-api-token"] !== keys.APP_KEY) return reply(res, { error: "bad token" }, { status: 401 });
    reply(res, { [rows]: [row], additional_data: { next_cursor: "" } });
  };
}

const bindCrm = (...more: string[]) =>
  svc("toolkits", "bind", "sales_crm", "--base-url", `${app.url}/crm`, "--key-env", "APP_KEY", ...more);

test("a key in a header: the bound copy calls the real app with its key, and the sandbox plays the others", async () => {
  startCrm();
  const { code, printed, noted } = await bindCrm();
  expect(code).toBe(0);
  const guide = await readFile("docs/guides/toolkits/use-your-own-app.md", "utf8");
  const [, block = ""] = /```text\n([\s\S]*?)```/.exec(guide) ?? [];
  const tls = ["the certificate is trusted", "none: the app is on this machine"] as const;
  const shown = [...printed, noted].join("\n").replaceAll(`${app.url}/crm`, "https://crm.example.com");
  expect(shown.replace(tls[1], tls[0])).toBe(block.trimEnd());
  app.seen.length = 0;
  const call = await callTool(server, "sales_crm.list_deals", {}, { entityId: "ops" });
  expect(call).toMatchObject({ outcome: "ok", sandbox: false });
  expect(app.seen).toMatchObject([{ path: "/crm/api/v2/deals", headers: { "x-api-token": "right-key" } }]);
  await connect(server, "messaging_bot", { entityId: "ops" });
  const played = await callTool(server, "messaging_bot.get_me", {}, { entityId: "ops" });
  expect(played).toMatchObject({ outcome: "ok", sandbox: true });
  expect(app.seen).toHaveLength(1);
  expect(await svc("toolkits", "bind", "sales_crm", "--check")).toMatchObject({ code: 0 });
});

test("a wrong address, a wrong key, and another version are each named in one line", async () => {
  startCrm();
  const address = await svc("toolkits", "bind", "sales_crm", "--base-url", `${app.url}/wrong`, "--key-env", "APP_KEY");
  expect(address.code).toBe(1);
  expect(address.printed).toEqual([
    expect.stringMatching(/^WRONG {2}address {5}\S+\/wrong answers 404: it is not the base URL of the app's API/),
  ]);
  const port = await svc("toolkits", "bind", "sales_crm", "--base-url", "http://127.0.0.1:9", "--key-env", "APP_KEY");
  expect(port.printed).toEqual([
    expect.stringMatching(/^WRONG {2}address {5}http:\/\/127\.0\.0\.1:9: .*the connection was refused$/),
  ]);
  const key = await svc("toolkits", "bind", "sales_crm", "--base-url", `${app.url}/crm`, "--key-env", "OTHER_KEY");
  expect(key.code).toBe(1);
  expect(key.printed.filter((line) => line.startsWith("WRONG"))).toEqual([
    expect.stringMatching(
      /^WRONG {2}credential {2}the app refused the credential of acc_\w+; connect the account again$/,
    ),
  ]);
  startCrm({ rows: "items" });
  const version = await bindCrm();
  expect(version.printed.filter((line) => line.startsWith("WRONG"))).toEqual([
    expect.stringMatching(/^WRONG {2}fields {6}the answer has no data$/),
  ]);
  startCrm({ row: { uuid: "7", headline: "Sale" } });
  const renamed = await bindCrm();
  expect(renamed.printed.filter((line) => line.startsWith("WRONG"))).toEqual([
    expect.stringMatching(/^WRONG {2}fields {6}the answer has no data\[\]\./),
  ]);
});

test("two keys: a missing header is named by the app's answer, and the answer to its question fills it", async () => {
  app.answer = ({ path, headers }, res) => {
    if (headers["x-engine-key"] !== keys.APP_KEY) return reply(res, { message: "bad key" }, { status: 401 });
    if (headers["x-engine-app"] !== "A1")
      return reply(res, { message: "header X-Engine-App is missing" }, { status: 400 });
    reply(res, { [path.split("/").at(-1) ?? ""]: [], pagination: { page: 1 } });
  };
  const bind = (...more: string[]) =>
    svc(
      ...["toolkits", "bind", "search_ingestion", "--base-url", app.url, "--key-env", "APP_KEY"],
      ...["--set", "auth[0].name=X-Engine-Key", ...more],
    );
  const unanswered = await bind();
  expect(unanswered.noted).toContain("search_ingestion also needs --set 'always.headers:application=…'");
  const missing = await bind("--set", "always.headers:application=X-Other: A1");
  expect(missing.code).toBe(1);
  expect(missing.printed.filter((line) => line.startsWith("WRONG"))).toEqual([
    expect.stringContaining("header X-Engine-App is missing"),
  ]);
  expect(await bind("--set", "always.headers:application=X-Engine-App: A1")).toMatchObject({ code: 0 });
});

const member = "https://api.example.com/users/U1";

/** A scheduler that takes the tokens of its own consent page only, and gives them only to the client `own-client`. */
function startScheduler() {
  app.answer = ({ path, headers, body }, res) => {
    if (path === "/oauth/token") {
      const form = new URLSearchParams(body);
      const client = Buffer.from(`own-client:${keys.CLIENT_SECRET}`).toString("base64");
      if (headers.authorization !== `Basic ${client}` || form.get("code") !== "code-of-ada")
        return reply(res, { error: "invalid_grant" }, { status: 400 });
      return reply(res, { access_token: "token-of-ada", refresh_token: "again", token_type: "bearer" });
    }
    if (headers.authorization !== "Bearer token-of-ada") return reply(res, { title: "no token" }, { status: 401 });
    reply(res, { resource: { uri: member, name: "Ada", email: "ada@example.com" } });
  };
}

test("OAuth: a person gives consent to the project's own client, and the bound copy calls the real app with the token", async () => {
  startScheduler();
  const addresses = ["--authorize-url", `${app.url}/oauth/authorize`, "--token-url", `${app.url}/oauth/token`];
  const words = ["toolkits", "bind", "scheduling", "--base-url", app.url, "--scheme", "oauth2", ...addresses];
  const first = await svc(...words);
  expect([first.code, first.printed]).toEqual([0, []]);
  expect(first.noted).toContain(
    "Register svc at the app and store its client with: svc toolkits client set scheduling",
  );
  expect(app.connections).toBe(0);
  const client = ["--client-id", "own-client", "--secret-env", "CLIENT_SECRET"];
  const stored = await svc("toolkits", "client", "set", "scheduling", ...client);
  expect(stored.printed.join("\n")).toContain(`${server.url}/oauth/callback`);

  const bind = startCommand([...words, "--no-open"], variables());
  const browser = openBrowser();
  const asked = new URL((await browser.open(await bind.line(/\/oauth\/start/))).location);
  expect(`${asked.origin}${asked.pathname}`).toBe(`${app.url}/oauth/authorize`);
  expect(asked.searchParams.get("client_id")).toBe("own-client");
  const back = new URL(asked.searchParams.get("redirect_uri") ?? "");
  back.searchParams.set("code", "code-of-ada");
  back.searchParams.set("state", asked.searchParams.get("state") ?? "");
  expect((await browser.open(back.href)).text).toContain("Connected");
  expect([await bind.exitCode, bind.printed]).toEqual([
    0,
    [
      expect.stringMatching(/^ok {5}address /),
      expect.stringMatching(/^ok {5}TLS /),
      "ok     credential  taken: the app answered scheduling.get_current_user",
      "ok     answer      in the form that the definition says",
      "ok     fields      none is missing",
    ],
  ]);

  app.seen.length = 0;
  expect(await callTool(server, "scheduling.get_current_user", {}, { entityId: "ops" })).toMatchObject({
    ...{ outcome: "ok", sandbox: false },
    resultJson: expect.stringContaining(member),
  });
  expect(app.seen).toMatchObject([{ path: "/users/me", headers: { authorization: "Bearer token-of-ada" } }]);
  expect(await callTool(server, "messaging_bot.get_me", {}, { entityId: "ops" })).toMatchObject({ sandbox: true });
  expect(app.seen).toHaveLength(1);
});

test("a toolkit whose identifying tool sends a POST can be bound, and an error has the field of the wrong answer", async () => {
  const dryRun = (slug: string, values: object) =>
    server.call("svc.v1.CatalogService/ImportToolkit", {
      ...{ shared: { slug, binding: { baseUrl: app.url, values } }, dryRun: true },
    });
  expect((await dryRun("issue_tracker", {})).status).toBe(200);
  const fieldsOf = async (values: object) => {
    const { json } = await dryRun("search_ingestion", { "auth[0].name": "X-Key", ...values });
    return json.details.map(({ debug }: { debug: { field: string } }) => debug.field);
  };
  const application = "always.headers:application";
  expect(await fieldsOf({ "auth[0].name": "X Key" })).toEqual(['shared.binding.values["auth[0].name"]']);
  for (const wrong of ["no name", "Host: x"])
    expect(await fieldsOf({ [application]: wrong })).toEqual([`shared.binding.values["${application}"]`]);
  expect(await fieldsOf({ "auth[1].name": "X" })).toEqual(["shared.binding.values"]);
});
