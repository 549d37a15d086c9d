import type { CatalogViews } from "@svc/catalog";
import type { Clock, KeyId, Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";

/**
 * Dependencies of GrantsService. `onChanged`: called with the key of a grant that ended or got a smaller scope. `onRevoked`: called with
 * all keys that end when a key for an agent is revoked.
 */
export type GrantsServiceOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Name of the deployment's cell, which new keys carry. Undefined if the deployment is not a cell. */
  readonly cell: string | undefined;
  readonly views: Pick<CatalogViews, "forProject">;
  readonly onChanged: (keyId: KeyId) => void;
  readonly onRevoked: (keyIds: readonly KeyId[]) => void;
};
