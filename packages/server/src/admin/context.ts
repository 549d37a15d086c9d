import type { Clock, KeyId, Sealer } from "@svc/core";
import type { Database } from "@svc/db";
import type { Quarantine } from "@svc/triggers";

/** What the methods of AdminService share. */
export type AdminContext = {
  db: Database;
  clock: Clock;
  /** Seals page tokens. */
  sealer: Sealer;
  /** Called with a key that was revoked, so that this node refuses it from now on. */
  onRevoked: (id: KeyId) => void;
  quarantine: Quarantine;
};
