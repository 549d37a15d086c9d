import { createBatcher, type ProjectId } from "@svc/core";
import { beginKeyedToolCalls, findToolCallKeyHolders, type ToolCallKeyHolder } from "@svc/db/calls/keys";
import type { CallRecord } from "@svc/db/calls/repo";
import type { Database } from "@svc/db/connect";

/** Idempotency keys in the store. Calls that come together share a round trip. */
export type KeyStore = {
  find(projectId: ProjectId, key: string): Promise<ToolCallKeyHolder | undefined>;
  /** Commits a call with its key; false, and nothing written, when the key is held. */
  take(call: CallRecord & { idempotencyKey: string }): Promise<boolean>;
};

const bounds = { sizeMax: 200, concurrency: 2, besideMin: 32, linger: { ms: 1, fromSize: 16 } };

/** The keys of a database. */
export function createKeyStore(db: Database): KeyStore {
  const finding = createBatcher<{ projectId: ProjectId; key: string }, ToolCallKeyHolder | undefined>({
    ...bounds,
    run: (keys) => findToolCallKeyHolders(db, keys),
  });
  const taking = createBatcher<CallRecord & { idempotencyKey: string }, boolean>({
    ...bounds,
    run: (calls) => beginKeyedToolCalls(db, calls),
    // A bad row must not fail other tenants' calls.
    splits: () => true,
  });
  return {
    find: (projectId, key) => finding.add({ projectId, key }),
    take: (call) => taking.add(call),
  };
}
