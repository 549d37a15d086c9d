import { type DataKeyUse, generateDataKeySecret, type KeyScope } from "@svc/core";
import { findDataKeys, type NewDataKey, putDataKeys } from "@svc/db/vault/data-keys";
import type { VaultContext } from "./context.ts";

const uses: readonly DataKeyUse[] = ["seal", "digest"];

/** Brings the data keys of scopes here, and makes those that they lack: of several nodes that do, one's stay. */
export async function ensureDataKeys(
  { db, clock, state }: Pick<VaultContext, "db" | "clock" | "state">,
  scopes: readonly KeyScope[],
): Promise<void> {
  const found = await findDataKeys(db, scopes);
  const has = new Set(found.map(({ scope, use }) => `${scope} ${use}`));
  const missing: NewDataKey[] = scopes.flatMap((scope) =>
    uses
      .filter((use) => !has.has(`${scope} ${use}`))
      .map((use) => ({ scope, use, rotation: 0, wrapped: state.sealer.wrap(scope, use, generateDataKeySecret()) })),
  );
  if (missing.length > 0) await putDataKeys(db, missing, clock.now());
  state.take(missing.length > 0 ? await findDataKeys(db, scopes) : found);
}
