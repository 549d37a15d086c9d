import { createBatcher, type ProjectId } from "@svc/core";
import { beginKeyedCalls, type CallRecord, type Database, findKeyHolders, type KeyHolder } from "@svc/db";

/** Idempotency keys in the store. Calls that come together share a round trip. */
export type KeyStore = {
  find(projectId: ProjectId, key: string): Promise<KeyHolder | undefined>;
  /** Commits a call with its key; false, and nothing written, when the key is held. */
  take(call: CallRecord & { idempotencyKey: string }): Promise<boolean>;
};

const bounds = { sizeMax: 200, concurrency: 4, besideMin: 32 };

/** The keys of a database. */
export function createKeyStore(db: Database): KeyStore {
  const finding = createBatcher<{ projectId: ProjectId; key: string }, KeyHolder | undefined>({
    ...bounds,
    run: (keys) => findKeyHolders(db, keys),
  });
  const taking = createBatcher<CallRecord & { idempotencyKey: string }, boolean>({
    ...bounds,
    run: (calls) => beginKeyedCalls(db, calls),
    // A bad row must not fail other tenants' calls.
    splits: () => true,
  });
  return {
    find: (projectId, key) => finding.add({ projectId, key }),
    take: (call) => taking.add(call),
  };
}
