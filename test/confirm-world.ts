import { startTestServer, type TestAnswer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";

/** A service for tests whose agents try to delete deals of the entity ada. */
export type ConfirmWorld = {
  readonly svc: TestServer;
  readonly projectId: string;
  /** Makes an API call with a key and returns its answer. Throws if it is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
  made(method: string, body: object, bearer?: string): Promise<any>;
  createKey(name: string, more?: object): Promise<string>;
  /** Returns the number of deals that were deleted since the last call of this function, by the ledger. */
  deleted(): Promise<number>;
  ended(jobId: string, status: string): Promise<void>;
  answer(jobId: string, continuation: string, bearer: string): Promise<TestAnswer>;
};

/** Outcomes of calls that were not sent to the app. */
const unsent = ["held", "invalid_arguments", "no_account", "not_callable"];

/** The destructive tool that the tests call. */
export const deleteDeal = "sales_crm.delete_deal";

/** Starts the service, with the contact `lead` and accounts of the entities ada and bob. */
export async function startConfirmWorld(): Promise<ConfirmWorld> {
  const svc = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  const projectId = (await svc.admin("ListProjects")).json.projects[0].id;
  let counted = 0;
  const world: ConfirmWorld = {
    svc,
    projectId,
    async made(method, body, bearer = svc.key) {
      const answer = await svc.call(`svc.v1.${method}`, body, { bearer });
      if (answer.status !== 200) throw new Error(`${method}: ${JSON.stringify(answer.json)}`);
      return answer.json;
    },
    async createKey(name, more = {}) {
      return (await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name, ...more })).json.key;
    },
    async deleted() {
      const [row] = await svc.database.db.sql<{ sent: number }[]>`
        select count(*)::int as sent from tool_calls where tool_slug = ${deleteDeal} and not outcome = any(${`{${unsent.join(",")}}`}::text[])`;
      const sent = row?.sent ?? 0;
      const more = sent - counted;
      counted = sent;
      return more;
    },
    async ended(jobId, status) {
      await until(async () => (await world.made("JobsService/GetJob", { id: jobId })).job.status === status);
    },
    answer: (jobId, continuation, bearer) =>
      svc.call("svc.v1.JobsService/AnswerAsk", { jobId, principalId: "lead", continuation }, { bearer }),
  };
  for (const entityId of ["ada", "bob"]) {
    await world.made("ConnectionsService/InitiateConnection", { toolkitSlug: "sales_crm", entityId });
  }
  await world.made("ContactsService/PutContact", { contact: { principalId: "lead", name: "Team lead" } });
  return world;
}

/** Calls a tool over MCP. */
export async function callMcp(
  url: string,
  bearer: string,
  params: Readonly<Record<string, unknown>>,
  { query = "", capabilities = { elicitation: {} } as object, version = "2026-07-28" } = {},
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
): Promise<any> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  const isNew = version === "2026-07-28";
  const response = await fetch(`${url}/mcp${query}`, {
    method: "POST",
    headers: {
      ...{ authorization: `Bearer ${bearer}`, "content-type": "application/json" },
      ...{ accept: "application/json, text/event-stream", "mcp-protocol-version": version },
      ...(isNew && { "mcp-method": "tools/call", "mcp-name": String(params["name"]) }),
    },
    body: JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
      params: isNew ? { ...params, _meta: meta } : params,
    }),
  });
  return ((await response.json()) as { result: unknown }).result;
}
