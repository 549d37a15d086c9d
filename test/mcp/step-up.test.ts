import { createHash } from "node:crypto";
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { createPerson } from "@svc/testing/agent";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../tools/project.ts";

// An agent that has only the address of svc: it reads the server card, signs in, steps up to a write, and loads a skill.

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  await connect(server, "sales_crm", { entityId: "ada", scheme: "api_key", apiKey: "any" });
});
afterAll(() => server?.stop());

/** What the library keeps for an agent. `asked`: the addresses to which it sent the agent's user, in their order. */
function createProvider(): { readonly provider: OAuthClientProvider; readonly asked: URL[] } {
  const kept: { client?: never; tokens?: never; verifier?: string; discovery?: never } = {};
  const asked: URL[] = [];
  const provider: OAuthClientProvider = {
    redirectUrl: "http://127.0.0.1:7777/callback",
    clientMetadata: { client_name: "My agent", redirect_uris: ["http://127.0.0.1:7777/callback"] },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void Object.assign(kept, { tokens }),
    redirectToAuthorization: (url) => void asked.push(url),
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier ?? "",
    saveDiscoveryState: (discovery) => void Object.assign(kept, { discovery }),
    discoveryState: () => kept.discovery,
  };
  return { provider, asked };
}

/** Gives an agent access for ada, as a person. `access`: access classes to allow. Default: those that the page preselects. */
async function allow(address: URL | undefined, access?: readonly string[]): Promise<URLSearchParams> {
  const person = createPerson(server.url);
  const page = await person.open(address?.href ?? "");
  const decided = await person.send(page, "key", { key: server.key, decision: "next" });
  const preselected = [...decided.html.matchAll(/name="access" value="(\w+)" checked/g)].map(([, value = ""]) => value);
  const choice = { decision: "allow", entity: "ada", access: [...(access ?? preselected)], "any-toolkit": "on" };
  const { location, html } = await person.send(decided, "vouched", choice);
  expect(location, html).toContain("code=");
  return new URL(location).searchParams;
}

const write = { slug: "sales_crm.create_deal", entity_id: "ada", arguments: { title: "Big one" } };

test.each([
  ["modern", { versionNegotiation: { mode: "auto" } }],
  ["legacy", {}],
] as const)(
  "an agent of the %s era steps up once, reads the server card and loads a skill whose digest verifies",
  async (era, options) => {
    const card = (await (await fetch(`${server.url}/mcp/server-card`)).json()) as { remotes: { url: string }[] };
    const url = new URL(card.remotes[0]?.url ?? "");
    const { provider: authProvider, asked } = createProvider();
    const transport = () => new StreamableHTTPClientTransport(url, { authProvider });
    const open = () => new Client({ name: "my-agent", version: "1.0.0" }, options);
    const first = transport();
    await expect(open().connect(first)).rejects.toThrow(UnauthorizedError);
    await first.finishAuth(await allow(asked[0], ["read"]));

    const client = open();
    const second = transport();
    await client.connect(second);
    expect(client.getProtocolEra()).toBe(era);
    const read = { slug: "sales_crm.list_deals", entity_id: "ada" };
    expect(await client.callTool({ name: "read_tool", arguments: read })).toMatchObject({ isError: false });
    await expect(client.callTool({ name: "call_tool", arguments: write })).rejects.toThrow(UnauthorizedError);
    expect(asked[1]?.searchParams.get("scope")?.split(" ")).toEqual(expect.arrayContaining(["read", "write"]));
    await second.finishAuth(await allow(asked[1]));
    expect(await client.callTool({ name: "call_tool", arguments: write })).toMatchObject({
      ...{ isError: false, structuredContent: { outcome: "ok" } },
    });

    const skills = new SkillsClient(client);
    const [entry] = (await skills.list()).skills;
    if (entry === undefined || entry.resources === "dynamic") throw new Error("the skill has no files");
    const file = await skills.read(entry);
    expect(file).toMatchObject({ verified: true, uri: entry.uri });
    const { contents } = await client.readResource({ uri: entry.uri });
    const [content] = contents;
    const text = content !== undefined && "text" in content ? content.text : "";
    expect(entry.resources[0]?.digest).toBe(`sha256:${createHash("sha256").update(text).digest("hex")}`);
    // Nothing after the step-up asked the person again.
    expect(asked).toHaveLength(2);
    await client.close();
  },
);
