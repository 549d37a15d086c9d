import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAnswer } from "@svc/testing/server";
import { stringify } from "yaml";

/** Calls a running server: one inside the tests, or a process. */
export type Callable = {
  call(method: string, body?: unknown, options?: { bearer?: string | null }): Promise<TestAnswer>;
};

/** An answer of CallTool, as JSON. */
export type CallAnswer = {
  readonly callId: string;
  readonly outcome: string;
  readonly resultJson: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfter?: string;
  readonly providerStatus: number;
  readonly warnings: readonly string[];
  readonly sandbox: boolean;
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly bodyJson: string;
  };
  readonly faults: readonly { readonly pointer: string; readonly message: string; readonly givenJson: string }[];
  readonly replayed: boolean;
};

/** Differences of a call from the default one. Default `bearer`: the approver key of the project `default`. */
export type CallChanges = {
  readonly entityId?: string;
  readonly connectedAccountId?: string;
  readonly idempotencyKey?: string;
  readonly dryRun?: boolean;
  readonly fields?: readonly string[];
  readonly maxBytes?: number;
  readonly bearer?: string;
};

/** Calls a tool for entity `ann`. Throws if the call itself is refused. */
export async function callTool(
  server: Callable,
  toolSlug: string,
  args: object = {},
  { bearer, ...changes }: CallChanges = {},
): Promise<CallAnswer> {
  const request = { toolSlug, argumentsJson: JSON.stringify(args), entityId: "ann", ...changes };
  const answer = await server.call("svc.v1.ToolsService/CallTool", request, bearer === undefined ? {} : { bearer });
  if (answer.code !== "ok") throw new Error(`${toolSlug}: ${JSON.stringify(answer.json)}`);
  return answer.json as CallAnswer;
}

/** A connected account as JSON, with the fields that tests read. */
export type Account = {
  readonly id: string;
  readonly state: string;
  readonly scheme: string;
  readonly lastError: string;
  readonly references: readonly string[];
  readonly toolkitOwnerProjectId: string;
  readonly grantedScopes: readonly string[];
};

/** Connects entity `ann` to a toolkit. Throws if it is refused. */
export async function connect(
  server: Callable,
  toolkitSlug: string,
  { bearer, ...changes }: { bearer?: string } & Record<string, unknown> = {},
): Promise<{ account: Account; authorizeUrl: string }> {
  const answer = await server.call(
    "svc.v1.ConnectionsService/InitiateConnection",
    { toolkitSlug, entityId: "ann", ...changes },
    bearer === undefined ? {} : { bearer },
  );
  if (answer.code !== "ok") throw new Error(`${toolkitSlug}: ${JSON.stringify(answer.json)}`);
  return answer.json as { account: Account; authorizeUrl: string };
}

/** Reads an account. */
export async function readAccount(server: Callable, id: string, bearer?: string): Promise<Account> {
  const options = bearer === undefined ? {} : { bearer };
  const { json } = await server.call("svc.v1.ConnectionsService/GetConnection", { id }, options);
  return json.account as Account;
}

/** A new project, with a key of each role. */
export type TestProject = { readonly id: string; readonly member: string; readonly approver: string };

/** Adds a project, as the administrator. */
export async function addProject(
  server: { admin(call: string, body?: unknown): Promise<TestAnswer> },
  name: string,
): Promise<TestProject> {
  const { json } = await server.admin("CreateProject", { name });
  const id = json.project.id as string;
  const keyOf = async (role: string) => {
    const created = await server.admin("CreateApiKey", { projectId: id, role, name: role });
    return created.json.key as string;
  };
  return { id, member: await keyOf("ROLE_MEMBER"), approver: await keyOf("ROLE_APPROVER") };
}

/** Writes a deployment file, which is removed at the end of the block that declares it. */
export async function writeDeployment(toolkits: object): Promise<{ path: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "svc-deployment-"));
  const path = join(folder, "deployment.yaml");
  await writeFile(path, stringify({ toolkits }));
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** Reasons for which a call about a source is made again: svc itself reads the source now, has just read it, or could not read it in time. */
const passingReasons = ["IMPORT_TOO_COSTLY", "CHANGES_OUTDATED", "SOURCE_UNREACHABLE"];

/** Makes an MCP server a toolkit. Throws if that is refused for good. */
export async function importServer(server: Callable, request: object): Promise<void> {
  for (;;) {
    const answer = await server.call("svc.v1.CatalogService/ImportToolkit", request);
    if (answer.code === "ok") return;
    if (!passingReasons.includes(answer.reason ?? "")) throw new Error(JSON.stringify(answer.json));
  }
}

/** Reads the source of a toolkit again and accepts its changes. Throws if that is refused for good. */
export async function acceptChanges(server: Callable, slug: string, overrides: readonly object[] = []): Promise<void> {
  for (;;) {
    const read = await server.call("svc.v1.CatalogService/RefreshToolkit", { slug });
    const digest = read.json.changes?.digest ?? "";
    const accepted = { slug, digest, overrides };
    const answer =
      read.code === "ok" ? await server.call("svc.v1.CatalogService/AcceptToolkitChanges", accepted) : read;
    if (answer.code === "ok") return;
    if (!passingReasons.includes(answer.reason ?? "")) throw new Error(JSON.stringify(answer.json));
  }
}
