import { readFileSync } from "node:fs";
import { createSvcClient } from "@svc/sdk";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

// This file runs the example definitions in docs/examples/standing. They run unchanged, against the sandbox.

let server: TestServer;
let variables: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  variables = { SVC_URL: server.url, SVC_API_KEY: server.key };
  const client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  for (const toolkitSlug of ["sales_crm", "esignature", "messaging_bot"]) {
    await client.connections.initiateConnection({ toolkitSlug, entityId: "ops", scheme: "api_key", apiKey: "sandbox" });
  }
});
afterAll(() => server.stop());

const run = (...args: string[]) => runTestCommand(["standing", ...args], variables);
const example = (name: string) => `${import.meta.dirname}/../../../../docs/examples/standing/${name}.json`;

test("what needs approval is asked about before it runs", async () => {
  const created = await run("create", "lost-deals", example("delete-lost-deals"), "--simulate");
  expect(created).toMatchObject({ code: 0, printed: [expect.stringMatching(/^stp_/)] });
  expect(created.noted.join("\n")).toMatch(
    /^It is pending_approval\.\nVersion 1 waits for approval: svc asks list --program stp_/,
  );
  expect((await run("show", "lost-deals")).printed.join("\n")).toMatch(/pending +version 1 waits for approval/);
  const jobs = await runTestCommand(["jobs", "list", "--mode", "rehearse"], variables);
  expect(jobs.printed[1]).toMatch(/ rehearse /);
  const list = async () => (await runTestCommand(["asks", "list"], variables)).printed[1] ?? "";
  await until(async () => (await list()) !== "");
  const shown = await runTestCommand(["asks", "show", /ask_\w+/.exec(await list())?.[0] ?? ""], variables);
  expect(shown.printed.join("\n")).toMatch(/^simulated +3 rows; 1 read; 3 writes not sent \(`svc jobs show job_/m);
});

test.each(["report-each-morning", "look-every-quarter-hour", "greet-one-at-a-time"])(
  "%s stands, is told when it is due, and a run of it succeeds",
  async (name) => {
    const preview = await run("preview", example(name), "--count", "3");
    expect(preview).toMatchObject({ code: 0, printed: { length: 4 } });
    const created = await run("create", name, example(name));
    expect(created).toMatchObject({ code: 0, printed: [expect.stringMatching(/^stp_/)] });
    expect(created.noted.join(" ")).toMatch(/^It is active, and due \d{4}-/);
    const watched = await run("run", name, "--watch");
    expect([watched.code, watched.noted.join("\n")]).toEqual([0, expect.stringMatching(/^job_/)]);
    expect((await run("runs", name)).printed[1]).toMatch(/ srn_\w+ +hand +ended \(succeeded\) +job_/);
  },
);

test("tell-of-new-deals tells the chat of a deal that is new, and of it alone", async () => {
  const name = "tell-of-new-deals";
  expect(await run("create", name, example(name))).toMatchObject({
    code: 0,
    printed: [expect.stringMatching(/^stp_/)],
  });
  await until(async () => (await run("show", name)).printed.join("\n").includes("ids are known"));
  const shown = (await run("show", name)).printed.join("\n");
  expect(shown).toMatch(/polled +\S+.*, ok\n *read +3 rows on 1 page, 0 of them new; 3 ids are known/);
  const client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  const argumentsJson = JSON.stringify({ title: "Forty bicycles" });
  await client.tools.callTool({ toolSlug: "sales_crm.create_deal", entityId: "ops", argumentsJson });
  // Resuming a program makes it poll at once.
  await run("pause", name);
  await run("resume", name);
  await until(async () => (await run("runs", name)).printed.join("\n").includes("ended"));
  expect((await run("runs", name)).printed.slice(1)).toEqual([
    expect.stringMatching(/ srn_\w+ +poll +ended \(succeeded\) +job_\w+ +1 row$/),
  ]);
  const [jobId] = /job_\w+/.exec((await run("runs", name)).printed.join()) ?? [""];
  const { calls } = await client.tools.listToolCalls({ toolSlug: "messaging_bot.send_message" });
  expect(calls.filter((call) => call.jobId === jobId)).toHaveLength(1);
});

test("times of the past are counted, backfilled and left out, as docs/guides/schedules/backfill-missed-runs.md says", async () => {
  expect(await run("create", "back", example("look-every-quarter-hour"))).toMatchObject({ code: 0 });
  const tried = await run("backfill", "back", "--since", "2h", "--dry-run");
  expect(tried.printed).toEqual([expect.stringMatching(/^[78] of [78] would start a run$/)]);
  const watched = await run("backfill", "back", "--since", "2h", "--rate", "600", "--watch");
  expect([watched.code, watched.noted.at(-1)]).toEqual([0, expect.stringMatching(/^done: ([78]) of \1, \1 started$/)]);
  expect((await run("runs", "back")).printed.length).toBeGreaterThan(7);
  const again = JSON.parse((await run("backfill", "back", "--since", "2h", "--json")).printed.join("")) as {
    id: string;
  };
  await until(async () => (await run("backfill", again.id)).printed.join("\n").includes("done"));
  expect((await run("backfill", again.id)).printed.join("\n")).toMatch(
    /progress +[78] of [78], 0 started, [78] passed by/,
  );
  expect((await run("backfill", again.id, "--cancel")).printed.join("\n")).toMatch(/state +done/);
  expect((await run("show", "back")).printed.join("\n")).not.toContain("bkf_");
  const slow = JSON.parse(
    (await run("backfill", "back", "--since", "2h", "--again", "--rate", "1", "--json")).printed.join(""),
  ) as { id: string };
  expect((await run("show", "back")).printed.join("\n")).toMatch(
    new RegExp(`backfill +${slow.id}, running.*: \\d of [789], \\d started`),
  );
  await run("backfill", slow.id, "--cancel");
  expect((await run("show", "back")).printed.join("\n")).not.toContain("bkf_");
  expect((await run("backfill", "bkf_none")).noted.join(" ")).toContain("BACKFILL_NOT_FOUND");
});

test("a program is listed, shown, paused, resumed, updated and deleted", async () => {
  const file = example("look-every-quarter-hour");
  expect(await run("create", "look", file, "--paused")).toMatchObject({ code: 0 });
  expect((await run("list", "--state", "paused")).printed).toEqual([
    expect.stringMatching(/^SLUG +ID +STATE/),
    expect.stringMatching(/^look +stp_\w+ +paused \(requested\) +- +- +Look after contracts/),
  ]);
  expect(await run("resume", "look")).toMatchObject({ code: 0, printed: ["look is active"] });
  expect(await run("pause", "look", "--cancel-running")).toMatchObject({ printed: ["look is paused (requested)"] });
  expect(await run("update", "look", example("greet-one-at-a-time"), "--expect", "1")).toMatchObject({
    code: 0,
    printed: [expect.stringMatching(/^stp_\w+ has version 2$/)],
  });
  const shown = (await run("show", "look")).printed.join("\n");
  expect(shown).toMatch(/state +paused \(requested\)\n[\s\S]*version +2/);
  expect(JSON.parse((await run("show", "look", "--json")).printed.join("")).versions).toHaveLength(2);
  const made = JSON.parse((await run("run", "report-each-morning", "--json")).printed.join("")) as { id: string };
  expect((await run("runs", made.id)).printed[1]).toContain(made.id);
  expect((await run("runs", "report-each-morning", "--skipped", "--since", "1h")).printed).toHaveLength(1);
  expect(await run("delete", "look")).toMatchObject({ code: 0, printed: ["look is deleted"] });
  expect((await run("show", "look")).noted.join(" ")).toContain("STANDING_PROGRAM_NOT_FOUND");
});

test("the faults of a definition are told with their lines", async () => {
  const text = readFileSync(example("look-every-quarter-hour"), "utf8").replace('"15m"', '"15s"');
  const { code, noted } = await runTestCommand(["standing", "create", "faulty", "-"], variables, text);
  expect(code).toBe(1);
  expect(noted[0]).toMatch(/^stdin:\d+ \/source\/schedule\/every SCHEDULE_INVALID: is "15s", outside of its range/);
  expect((await run("preview")).noted.join(" ")).toContain("--program");
});
