import { randomBytes } from "node:crypto";
import { type Binding, createId, digestSecret, Fault, type KeyId, type ProjectId } from "@svc/core";
import { putAccountReferences } from "@svc/db/account-references/repo";
import { createApiKey } from "@svc/db/keys/repo";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import type { TestCluster, TriggerNode } from "../test-node.ts";

/** An answer of the MCP endpoint to a request of the test's agent. */
export type AgentAnswer = {
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
  readonly result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly error?: { readonly code: number; readonly message: string; readonly data?: any };
};

/** An agent for tests, with its own key. */
export type TestAgent = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  /** Sends an MCP request. `query`: query that is added to the address. */
  ask(method: string, params?: object, query?: string): Promise<AgentAnswer>;
};

/** The key of an agent: a new one, or an existing one. */
export type TestKey = {
  readonly projectId: ProjectId;
  readonly binding?: Binding;
  readonly expiresAt?: number | null;
  readonly keyId?: KeyId;
  readonly isKnown?: boolean;
};

/** Returns an agent of a project with a scoped key. */
export async function createTestAgent(
  { db, clock }: TestCluster,
  node: Pick<TriggerNode, "mcp">,
  { projectId, binding, expiresAt = null, keyId = createId("key", clock.now()), isKnown = false }: TestKey,
): Promise<TestAgent> {
  const digest = digestSecret(keyId);
  const bound = binding && {
    ...binding,
    accessClasses: [...binding.accessClasses],
    toolkitSlugs: [...binding.toolkitSlugs],
  };
  const key = {
    id: keyId,
    projectId,
    role: "member",
    name: "agent",
    digest,
    hint: "",
    createdAt: clock.now(),
    expiresAt,
  } as const;
  if (!isKnown) await createApiKey(db, { ...key, ...bound });
  return {
    projectId,
    keyId,
    async ask(method, params = {}, query = "") {
      const { body } = await node.mcp.serve({
        body: { text: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) },
        headers: { version: undefined, method: undefined, name: undefined },
        query,
        principal: { kind: "project", projectId, keyId, role: "member", binding },
        signal: new AbortController().signal,
        mapError: (error) => {
          if (error instanceof Fault) return error;
          throw error;
        },
        enter: (_deed, act) => act(),
        scopesOf: () => [],
        onLabel: () => {},
        onTrace: () => {},
        notify: undefined,
      });
      return JSON.parse(body);
    },
  };
}

/** Returns a random signing secret of `bytes` bytes, in the form in which agents send it. */
export function agentSecret(bytes = 32): string {
  return `whsec_${randomBytes(bytes).toString("base64")}`;
}

/**
 * Starts an MCP event receiver for tests. It answers svc's verification requests (challenges), and records all requests that are not
 * challenges.
 */
export async function startTestCallback(): Promise<
  TestReceiver & { /** Requests that are not challenges. */ posted(): TestReceiver["requests"] }
> {
  const receiver = await startTestReceiver();
  receiver.script((_req, res) => {
    const said = JSON.parse(receiver.requests.at(-1)?.body.toString() ?? "{}");
    res.writeHead(200).end(said.type === "verification" ? JSON.stringify({ challenge: said.challenge }) : "");
  });
  return Object.assign(receiver, {
    posted: () => receiver.requests.filter(({ body }) => JSON.parse(body.toString()).type !== "verification"),
  });
}

/** Connects an entity to an account. `reference`: the id by which webhook posts name this account. */
export function putEntity({ db, clock }: TestCluster, projectId: ProjectId, entityId: string, reference: string) {
  const accountId = createId("acc", clock.now());
  return putAccountReferences(db, [{ toolkitSlug: "code_host", reference, projectId, accountId, entityId }]);
}
