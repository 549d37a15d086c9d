import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../tools/project.ts";

// Skills over MCP (SEP-2640), read and verified by the client of the protocol's SDK, in both families of revisions.

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  await connect(server, "messaging_bot", { entityId: "ops", scheme: "api_key", apiKey: "any" });
  const program = await readFile(join(import.meta.dirname, "../../docs/examples/announce-skill.json"), "utf8");
  const { json } = await server.call("svc.v1.JobsService/SubmitJob", { programJson: program, waitSeconds: 20 });
  const promoted = {
    jobId: json.job.id,
    slug: "announce_it",
    description: 'Announces "a text" in the channel: at once.',
  };
  expect((await server.call("svc.v1.JobsService/PromoteJob", promoted)).status).toBe(200);
});
afterAll(() => server?.stop());

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
