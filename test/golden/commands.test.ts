import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commandNames } from "@svc/cli";
import { letIn, registerAgent } from "@svc/testing/agent";
import { signInToConsole } from "@svc/testing/console-session";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ran, replay } from "./transcript.ts";

// What every command prints, as bytes: each transcript is run again in a project of its own. To add a case, add its `$` line to the
// transcript of its topic and run `npx vitest run test/golden/commands.test.ts -u`.

const folder = new URL("commands/", import.meta.url);
/** That of projects comes first: it lists what others make. */
const topics = (await readdir(folder))
  .map((file) => file.replace(".txt", ""))
  .toSorted((a, b) => Number(b === "projects") - Number(a === "projects") || (a < b ? -1 : 1));
const names = commandNames();
const leaves = names.filter((name) => !names.some((other) => other.startsWith(`${name} `)));
const secret = { SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" };
const ran: Ran[] = [];
const texts: string[] = [];
let server: TestServer;
let taking: TestReceiver;
let failing: TestReceiver;
let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "svc-golden-"));
  taking = await startTestReceiver();
  failing = await startTestReceiver();
  // Late enough for a command that makes an attempt due to end before it.
  failing.script((_, response) => void setTimeout(() => response.writeHead(500).end("out of order"), 500));
  server = await startTestServer({
    variables: { ...secret, SVC_SANDBOX: "force", SVC_RETRY_SCHEDULE: "2h,2h" },
    erasures: { graceMs: 0, pollMs: 100 },
  });
});

afterAll(async () => {
  await server?.stop();
  await taking?.[Symbol.asyncDispose]();
  await failing?.[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true });
});

describe("the transcripts", () => {
  test.each(topics)("of %s are what the commands print", async (topic) => {
    const { project } = (await server.admin("CreateProject", { name: topic })).json;
    const keyOf = async (role: string) =>
      (await server.admin("CreateApiKey", { projectId: project.id, role, name: role })).json.key;
    const key = await keyOf("ROLE_APPROVER");
    await beginnings[topic]?.({ url: server.url, key });
    const result = await replay(await readFile(new URL(`${topic}.txt`, folder), "utf8"), {
      ...secret,
      PROJECT: project.id,
      SCRATCH: scratch,
      SVC_DATA_DIR: scratch,
      SVC_TOOLKITS: fewToolkits,
      SVC_URL: server.url,
      SVC_API_KEY: key,
      SVC_ADMIN_TOKEN: server.adminToken,
      MEMBER: await keyOf("ROLE_MEMBER"),
      TAKING: taking.url,
      FAILING: failing.url,
      FILES: fileURLToPath(new URL("files", import.meta.url)),
    });
    ran.push(...result.ran);
    texts.push(result.text);
    await expect(result.text).toMatchFileSnapshot(`commands/${topic}.txt`);
  });

  test("have every command succeed as text and as JSON, but for those with a reason", () => {
    const succeeded = ran.filter(({ code }) => code === 0);
    const isShown = (name: string, isJson: boolean) =>
      succeeded.some(({ argv }) => `${argv.join(" ")} `.startsWith(`${name} `) && argv.includes("--json") === isJson);
    const missing = leaves.filter((name) => !isShown(name, false) || !isShown(name, true));
    expect(missing.toSorted()).toEqual(Object.keys(unshown).toSorted());
  });

  test("have every command refuse an option that it does not know", () => {
    const refused = ran.filter(({ argv, code }) => argv.at(-1) === "--nope" && code === 2);
    const isRefused = (name: string) => refused.some(({ argv }) => argv.join(" ").startsWith(`${name} --`));
    expect(leaves.filter((name) => !isRefused(name))).toEqual([]);
  });

  test("have refusals of 60 reasons and more", () => {
    const reasons = new Set(texts.flatMap((text) => text.match(/(?<=^! .*\()[A-Z][A-Z_]+(?=\))/gm) ?? []));
    expect(reasons.size).toBeGreaterThanOrEqual(60);
  });
});

/** What commands of a topic are about and none of them makes. */
const beginnings: Readonly<Record<string, (door: { url: string; key: string }) => Promise<unknown>>> = {
  console: async (door) => [await signInToConsole(door, door), await signInToConsole(door, door)],
  grants: async (door) => {
    const agent = await registerAgent(door.url);
    await agent.change((await letIn(door, agent)).get("code") ?? "");
  },
};

/** Commands of which no success is recorded, each with the reason. */
const unshown: Readonly<Record<string, string>> = {
  backup: "copies a store that the service embeds: test/drill.test.ts",
  "cells config": "reads the database of a cell: test/cells.test.ts",
  completion: "prints a script of 30 KB: packages/cli/src/custom/completion.test.ts",
  "connections test": "knows nothing in the sandbox: packages/cli/src/topics/connections.test.ts",
  doctor: "needs a deployment in which all is right: test/doctor.test.ts",
  "jobs park": "takes a job under way: packages/cli/src/custom/jobs/park.test.ts",
  "jobs release": "takes a job that is parked: packages/cli/src/custom/jobs/park.test.ts",
  listen: "goes on until it is interrupted: packages/cli/src/custom/listen/listen.test.ts",
  "people invite": "needs an identity provider: test/people/commands.test.ts",
  "people remove": "needs a person who signed in: test/people/commands.test.ts",
  "people role": "needs a person who signed in: test/people/commands.test.ts",
  "projects move": "needs two cells: test/cells.test.ts",
  restore: "unpacks what `svc backup` wrote: test/drill.test.ts",
  serve: "goes on until it is interrupted: test/serve.test.ts",
  "vault rotate": "needs a second vault key: packages/server/src/vault/vault.test.ts",
  watch: "goes on until it is interrupted: packages/cli/src/json.test.ts",
};
