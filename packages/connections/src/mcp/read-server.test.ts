import { afterAll, afterEach, expect, test, vi } from "vitest";
import { createTestConnections } from "../test-connections.ts";
import { privateToolkit } from "../test-toolkits.ts";
import { createMcpReader } from "./read-server.ts";

const t = await createTestConnections();
afterAll(() => t[Symbol.asyncDispose]());
afterEach(() => vi.restoreAllMocks());

/** Returns a function that asks the server of a toolkit with two accounts that cannot be used, and the counts of what it did. */
async function readerOf(slug: string, onResolve: () => void) {
  const projectId = await t.project();
  const { baseUrl: url } = await t.publish(projectId, privateToolkit(slug, "api.one.example.com"));
  for (const entityId of ["ann", "bob"])
    await t.client(projectId).initiateConnection({ toolkitSlug: slug, entityId, scheme: "api_key", apiKey: "k" });
  const counts = { resolved: 0, sent: 0 };
  const accounts = {
    ...t.access,
    resolve: async () => {
      counts.resolved++;
      onResolve();
      return { kind: "account_unusable", message: "" } as const;
    },
  };
  const network = {
    exchange: async () => {
      counts.sent++;
      return { kind: "answer", status: 401, headers: {}, body: Buffer.alloc(0) } as const;
    },
  };
  const read = createMcpReader({ ...t.options, accounts, network });
  return {
    counts,
    ask: (takesOauth: boolean) => read({ url, slug, accountId: "", projectId, takesOauth, isTrial: true }),
  };
}

test("a server is not asked without a credential if no account works, except to find out how it uses OAuth", async () => {
  const { counts, ask } = await readerOf("broken", () => {});
  expect(await ask(false)).toMatchObject({
    kind: "no_account",
    message: expect.stringContaining("none of the accounts"),
  });
  expect(counts).toEqual({ resolved: 2, sent: 0 });
  expect(await ask(true)).toMatchObject({ kind: "unauthorized" });
  expect(counts.sent).toBeGreaterThan(0);
});

test("the time for a server begins before its accounts are looked at", async () => {
  let nowMs = performance.now();
  const { counts, ask } = await readerOf("slow", () => {
    nowMs += 30_001;
  });
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  expect(await ask(false)).toMatchObject({ kind: "no_account" });
  expect(counts).toEqual({ resolved: 1, sent: 0 });
});
