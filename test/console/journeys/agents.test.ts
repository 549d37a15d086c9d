import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { expect } from "vitest";
import { findBarriers } from "../axe.ts";
import { browserTest, startConsole } from "../browser.ts";

const consoles = startConsole();

/**
 * Starts a program with an OAuth client on this machine. It keeps its client, tokens and verifier, and waits at an address for its
 * authorization code.
 */
async function startProgram() {
  const server = createServer((_req, res) =>
    res.setHeader("content-type", "text/html").end("<h1>You may close this</h1>"),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const redirectUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  const kept: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier: string; address: string } = {
    verifier: "",
    address: "",
  };
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { client_name: "Desk agent", redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" },
    state: () => "the state",
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void Object.assign(kept, { tokens }),
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier,
    redirectToAuthorization: ({ href }) => void Object.assign(kept, { address: href }),
  };
  return { server, provider, kept };
}

browserTest("an agent that has the address alone is let in by who is signed in, and calls a tool", async () => {
  const { server, provider, kept } = await startProgram();
  const address = new URL(`${consoles.svc.url}/mcp`);
  const transport = () => new StreamableHTTPClientTransport(address, { authProvider: provider });
  const client = new Client({ name: "desk-agent", version: "1" });
  const first = transport();
  await expect(client.connect(first)).rejects.toThrow(UnauthorizedError);

  const { page, faults } = await consoles.open();
  faults.expectOrigin(new URL(String(provider.redirectUrl)).origin);
  await page.goto(kept.address);
  await page.getByRole("heading", { name: "Let Desk agent in?" }).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole("button", { name: "Continue as this key" }).click();
  await page.getByRole("heading", { name: "What may Desk agent do?" }).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await page.getByLabel("It acts as the entity").fill("ada");
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByRole("heading", { name: "You may close this" }).waitFor();

  const answer = new URL(page.url()).searchParams;
  expect(answer.get("state")).toBe("the state");
  expect(answer.get("iss")).toBe(consoles.svc.url);
  await first.finishAuth(answer.get("code") ?? "");
  await client.connect(transport());
  const found = await client.callTool({ name: "search_tools", arguments: { query: "list calendar events" } });
  expect(found.isError ?? false).toBe(false);
  expect(JSON.stringify(found.content)).toContain("calendar.list_events");
  await client.close();
  server.closeAllConnections();
  server.close();
});
