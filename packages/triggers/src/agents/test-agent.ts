import { randomBytes } from "node:crypto";
import { type Binding, createId, digestSecret, Fault, type KeyId, type ProjectId } from "@svc/core";
import { putAccountReferences } from "@svc/db/account-references/repo";
import { createApiKey } from "@svc/db/keys/repo";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import type { TestCluster, TriggerNode } from "../test-node.ts";

/** An answer of MCP. */
export type AgentAnswer = {
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
  readonly result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly error?: { readonly code: number; readonly message: string; readonly data?: any };
};

/** An agent with a key of its own. */
export type TestAgent = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  /** Sends a request; `query` is that of its address. */
  ask(method: string, params?: object, query?: string): Promise<AgentAnswer>;
};

/** The key of an agent: a new one, or one that there is. */
export type TestKey = {
  readonly projectId: ProjectId;
  readonly binding?: Binding;
  readonly expiresAt?: number | null;
  readonly keyId?: KeyId;
  readonly isKnown?: boolean;
};

/** An agent of a project, by a key that is bound so. */
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
        onLabel: () => {},
        onTrace: () => {},
        notify: undefined,
      });
      return JSON.parse(body);
    },
  };
}

/** A signing secret as agents bring them, of `bytes` bytes. */
export function agentSecret(bytes = 32): string {
  return `whsec_${randomBytes(bytes).toString("base64")}`;
}

/** A callback that says back what it is challenged with, and takes what else comes. */
export async function startTestCallback(): Promise<
  TestReceiver & { /** What is no challenge. */ posted(): TestReceiver["requests"] }
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

/** Gives an entity the account that posts of an organization name. */
export function putEntity({ db, clock }: TestCluster, projectId: ProjectId, entityId: string, reference: string) {
  const accountId = createId("acc", clock.now());
  return putAccountReferences(db, [{ toolkitSlug: "code_host", reference, projectId, accountId, entityId }]);
}
