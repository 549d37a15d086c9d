import type { CatalogViews } from "@svc/catalog";
import type { Clock, KeyId, Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";

/**
 * Dependencies of GrantsService. `onChanged`: called with the key of a grant (a person's permission for an agent) that ended or got a
 * smaller scope. `onRevoked`: called with the keys that ended.
 */
export type GrantsServiceOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly views: Pick<CatalogViews, "forProject">;
  readonly onChanged: (keyId: KeyId) => void;
  readonly onRevoked: (keyIds: readonly KeyId[]) => void;
};
