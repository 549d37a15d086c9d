import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { callOutcomes } from "@svc/db/schema/words";
import { letIn, registerAgent } from "@svc/testing/agent";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../tools/project.ts";

// Skills over MCP (SEP-2640), read and verified by the client of the protocol's SDK, in both families of revisions.

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  await connect(server, "messaging_bot", { entityId: "ops", scheme: "api_key", apiKey: "any" });
  await promote({
    slug: "announce_it",
    description: 'Announces "a text" in the channel: at once.',
    program: announcing,
  });
});
afterAll(() => server?.stop());

const announcing = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../docs/examples/announce-skill.json"), "utf8"),
);

/** Runs a program, and promotes its job to a skill of the project. */
async function promote({ program, ...skill }: { slug: string; description: string; program: object }): Promise<void> {
  const submitted = { programJson: JSON.stringify(program), waitSeconds: 20 };
  const { json } = await server.call("svc.v1.JobsService/SubmitJob", submitted);
  expect((await server.call("svc.v1.JobsService/PromoteJob", { jobId: json.job.id, ...skill })).status).toBe(200);
}

const guides = [
  "skill://svc/write-programs/SKILL.md",
  "skill://svc/follow-events/SKILL.md",
  "skill://svc/handle-errors/SKILL.md",
];
const announce = "skill://project/announce-it/SKILL.md";

type Asking = { readonly mode?: "auto"; readonly key?: string; readonly query?: string };

async function open({ mode, key = server.key, query = "" }: Asking) {
  const client = new Client({ name: "my-agent", version: "1.0.0" }, mode && { versionNegotiation: { mode } });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp${query}`), { requestInit }));
  return { client, skills: new SkillsClient(client) };
}

const urisOf = async (asking: Asking) => {
  const { client, skills } = await open(asking);
  const { skills: listed } = await skills.list();
  await client.close();
  return listed.map(({ uri }) => uri);
};

/** Returns the Markdown of a skill, without its front matter. */
async function bodyOf(uri: string): Promise<string> {
  const { client, skills } = await open({ mode: "auto" });
  const { body = "" } = await skills.read((await skills.get(uri)).skill);
  await client.close();
  return body;
}

describe.each([
  ["modern", { mode: "auto" }],
  ["legacy", {}],
] as const)("a client of the %s era", (era, asking) => {
  test("lists the guides and the project's skills, and reads each with its digest and size", async () => {
    const { client, skills } = await open(asking);
    expect([client.getProtocolEra(), skills.supported, skills.directoryRead]).toEqual([era, true, false]);
    const { skills: listed } = await skills.list();
    expect(listed.map(({ uri }) => uri)).toEqual([...guides, announce]);
    for (const entry of listed) {
      const file = await skills.read(entry);
      expect(file).toMatchObject({ verified: true, mimeType: "text/markdown", frontmatter: entry.frontmatter });
      expect((await skills.get(entry.uri)).skill).toEqual(entry);
    }
    const { resources } = await client.listResources();
    expect(resources.map(({ uri, size }) => [uri, size])).toEqual(
      listed.map(({ uri, resources: files }) => [uri, files === "dynamic" ? 0 : files[0]?.size]),
    );
    await client.close();
  });

  test("is told what does not exist", async () => {
    const { client, skills } = await open(asking);
    const uri = "skill://svc/nothing/SKILL.md";
    await expect(skills.get(uri)).rejects.toMatchObject({ code: -32_602 });
    await expect(client.readResource({ uri })).rejects.toThrow(/no resource/);
    await client.close();
  });
});

test("a skill of the project says with which arguments it is called, and the call it names succeeds", async () => {
  const { client, skills } = await open({ mode: "auto" });
  const { skill } = await skills.get(announce);
  expect(skill.frontmatter).toEqual({
    name: "announce-it",
    description: 'Announces "a text" in the channel: at once.',
  });
  const { body = "" } = await skills.read(skill);
  const [, slug = "", meta = ""] = /Call the tool `([^`]+)` with `(\w+)`/.exec(body) ?? [];
  const [, schema = ""] = /~~~json\n(.*)\n~~~/.exec(body) ?? [];
  expect(JSON.parse(schema).properties).toHaveProperty("text");
  const answer = await client.callTool({ name: meta, arguments: { slug, arguments: { text: "Lunch is ready" } } });
  expect(answer).toMatchObject({ isError: false, structuredContent: { outcome: "ok" } });
  await client.close();
});

test("a caller sees only the skills that it may use, and an address only those that it names", async () => {
  const { projectId } = (await server.call("svc.v1.IdentityService/GetIdentity")).json;
  const made = { projectId, role: "ROLE_MEMBER", name: "reader", accessClasses: ["read"] };
  const { key } = (await server.admin("CreateApiKey", made)).json;
  expect(await urisOf({ key })).not.toContain(announce);
  expect(await urisOf({ key })).toContain("skill://svc/handle-errors/SKILL.md");
  expect(await urisOf({ query: "?toolkits=messaging_bot" })).toEqual([]);
  expect(await urisOf({ query: "?tools=skills.announce_it" })).toContain(announce);
});

test("a caller without the group of tools that a guide explains does not see the guide", async () => {
  const agent = await registerAgent(server.url);
  const tokenWith = async (agentTools: string[]) => {
    const chosen = { "any-entity": "yes", entity: "", access: ["read"], "agent-tools": agentTools };
    const left = await letIn(server, agent, chosen);
    return (await agent.change(left.get("code") ?? "")).json.access_token as string;
  };
  const [programs, ...others] = guides;
  const key = await tokenWith(["operate"]);
  expect(await urisOf({ key })).toEqual(others);
  const { client, skills } = await open({ key });
  await expect(skills.get(programs ?? "")).rejects.toMatchObject({ code: -32_602 });
  await expect(client.readResource({ uri: programs ?? "" })).rejects.toThrow(/no resource/);
  await client.close();
  expect(await urisOf({ key: await tokenWith(["programs"]) })).toEqual(guides);
});

test("the guide to errors names each outcome of a call once", async () => {
  const body = await bodyOf("skill://svc/handle-errors/SKILL.md");
  const named = [...body.matchAll(/^- (`.*?`):/gm)].flatMap(([, names = ""]) => names.replaceAll("`", "").split(", "));
  expect(named.toSorted()).toEqual(callOutcomes.toSorted());
});

test("a skill whose argument schema is longer than 8,192 characters names describe_tool instead", async () => {
  const skillWith = async (slug: string, note: string) => {
    const { inputSchema } = announcing;
    const properties = { ...inputSchema.properties, note: { type: "string", description: note } };
    const program = { ...announcing, inputSchema: { ...inputSchema, properties } };
    await promote({ slug, description: "Announces a text.", program });
    const body = await bodyOf(`skill://project/${slug}/SKILL.md`);
    return { body, length: JSON.stringify(program.inputSchema).length };
  };
  const empty = await skillWith("empty", "");
  const full = await skillWith("full", "n".repeat(8_192 - empty.length));
  expect([full.length, full.body.includes("~~~json")]).toEqual([8_192, true]);
  const long = await skillWith("long", "n".repeat(8_193 - empty.length));
  expect([long.length, long.body.includes("~~~json")]).toEqual([8_193, false]);
  expect(long.body).toContain("Read its arguments with `describe_tool`.");
});

test("of two programs whose names give one skill, the one that ListSkills returns first is offered", async () => {
  await promote({ slug: "announce__it", description: "Announces it otherwise.", program: announcing });
  const { json } = await server.call("svc.v1.JobsService/ListSkills", {});
  const both: string[] = json.skills
    .map(({ slug }: { slug: string }) => slug)
    .filter((slug: string) => /^ann/.test(slug));
  expect(both.toSorted()).toEqual(["announce__it", "announce_it"]);
  expect((await urisOf({})).filter((uri) => uri === announce)).toHaveLength(1);
  expect(await bodyOf(announce)).toContain(`Call the tool \`skills.${both[0]}\` with`);
});
