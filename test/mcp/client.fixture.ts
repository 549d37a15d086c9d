// The client that the official conformance suite starts for a scenario, with the address of the scenario's server as its last argument. It
// makes a toolkit from the server with the svc at SVC_TEST_URL, connects an account, and calls the tools, as a person with an agent does.
import { randomUUID } from "node:crypto";
import { openBrowser } from "../tools/browser.ts";

const { SVC_TEST_URL: base = "", SVC_TEST_ADMIN: adminToken = "", SVC_TEST_PUBLIC_URL: publicUrl = "" } = process.env;
const { MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;
const url = process.argv.at(-1) ?? "";
const slug = `server_${new URL(url).port}`;
let bearer = adminToken;

const pause = () => new Promise((resolve) => setTimeout(resolve, 500));

/** Makes a call of svc. The suite keeps the output, so that a person can read it after a failure. */
async function call(method: string, body: object) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${bearer}` };
  const post = () => fetch(`${base}/svc.v1.${method}`, { method: "POST", headers, body: JSON.stringify(body) });
  // On a busy machine, svc may close an idle connection while a request is on its way.
  let res = await post().catch(post);
  while (res.status === 503) {
    await pause();
    res = await post();
  }
  const text = await res.text();
  process.stdout.write(`${method} ${text}\n`);
  if (!res.ok) throw new Error(`${method}: ${text}`);
  return JSON.parse(text);
}

/** Imports the server. If its issuer registers no clients, stores the client that the suite has registered there, and tries again. */
async function importServer() {
  for (;;) {
    try {
      return await call("CatalogService/ImportToolkit", { mcp: { url }, slug, replace: true });
    } catch (error) {
      const [, issuer] = /its issuer \\?"([^"\\]+)/.exec(String(error)) ?? [];
      const { client_id: clientId, client_secret: clientSecret } = JSON.parse(context);
      // On a busy machine, an import may take longer than svc allows.
      if (/IMPORT_TOO_COSTLY|DEADLINE_EXCEEDED/.test(String(error))) await pause();
      else if (issuer === undefined || clientId === undefined) throw error;
      else await call("ConnectionsService/PutToolkitClient", { toolkitSlug: slug, issuer, clientId, clientSecret });
    }
  }
}

/** Connects an account. With OAuth, follows the redirects of the consent until svc has answered. */
async function connect(scheme: string): Promise<void> {
  const asked = { toolkitSlug: slug, entityId: "ann", scheme };
  const { authorizeUrl } = await call("ConnectionsService/InitiateConnection", asked);
  const browser = openBrowser();
  for (let next: string = authorizeUrl; next !== ""; ) {
    const page = await browser.open(next.replace(publicUrl, base));
    process.stdout.write(`${next} ${page.status} ${page.text.replaceAll(/<[^>]*>/g, " ").slice(0, 1_000)}\n`);
    next = page.location;
  }
}

/** Makes a toolkit with the tools of the server, and returns its authentication scheme. */
async function importAndConnect(): Promise<string> {
  const { toolkit } = await importServer();
  const [scheme = "none"] = toolkit.authSchemes;
  await connect(scheme);
  if (scheme !== "none") await importServer();
  return scheme;
}

type Tool = { readonly slug: string; readonly accessClass: string; readonly inputSchemaJson: string };

/** Calls that the scenario wants. Default: one call of each tool, with made-up arguments. */
const { toolCalls }: { toolCalls?: { name: string; arguments: object }[] } = JSON.parse(context);

function argumentsOf({ slug: toolSlug, inputSchemaJson, accessClass }: Tool): object {
  const wanted = toolCalls?.find(({ name }) => toolSlug === `${slug}.${name}`)?.arguments;
  const { properties = {} } = JSON.parse(inputSchemaJson);
  const samples: Readonly<Record<string, unknown>> = { number: 5, integer: 5, boolean: true, array: [], object: {} };
  const made = Object.keys(properties).map((name) => [name, samples[properties[name].type] ?? "text"]);
  return { ...(wanted ?? Object.fromEntries(made)), ...(accessClass === "destructive" && { confirm: true }) };
}

// Each scenario has a project of its own, because the servers of two scenarios may have the same port.
const { project } = await call("AdminService/CreateProject", { name: `${slug}-${randomUUID()}` });
const made = await call("AdminService/CreateApiKey", { projectId: project.id, role: "ROLE_APPROVER", name: "suite" });
bearer = made.key;
await importAndConnect();
const { tools } = await call("CatalogService/ListTools", { toolkitSlug: slug, projectId: project.id });
for (const tool of tools as Tool[]) {
  const request = { toolSlug: tool.slug, argumentsJson: JSON.stringify(argumentsOf(tool)), entityId: "ann" };
  for (let tries = 0; tries < 3; tries++) {
    const { outcome } = await call("ToolsService/CallTool", request);
    if (outcome !== "missing_scope" && outcome !== "account_unusable") break;
    // The person reads the server again, because its issuer may have changed, and gives consent again.
    await importAndConnect();
  }
}
