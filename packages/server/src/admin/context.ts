import type { Catalog, CatalogViews } from "@svc/catalog";
import type { Clock, KeyId, NodeId, ProjectId, Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { VaultRotation } from "@svc/db/vault/rotations";
import type { Node, PostQuotas, Quarantine } from "@svc/node";
import type { Admission } from "../admission/admission.ts";

/** Reads a page of an export in its turn. */
export type ExportPages = <Page>(projectId: ProjectId, read: () => Promise<Page>) => Promise<Page>;

/** What the methods of AdminService share. */
export type AdminContext = {
  db: Database;
  clock: Clock;
  /** Seals page tokens. */
  sealer: Sealer;
  /** Called with keys that were revoked, so that this node refuses them from now on. */
  onRevoked: (ids: readonly KeyId[]) => void;
  /** Called with a project whose quotas, or what a person confirms, changed, so that this node holds it to them from now on. */
  onQuotas: (id: ProjectId) => void;
  /** Called with a project some of whose keys ended, so that this node refuses them from now on. */
  onKeysEnded: (id: ProjectId) => void;
  nodeId: NodeId;
  /** Begins a rotation of the vault key: see `Vault`. */
  rotateVault: () => Promise<VaultRotation>;
  /** What projects have under way at this node. */
  admission: Pick<Admission, "loadOf">;
  /** What projects received by this node's posts. */
  posts: Pick<PostQuotas, "loadOf">;
  /** Whether there may be a second project: the deployment says who receives events. */
  isOpenToProjects: boolean;
  deploymentSecrets: Node["deploymentSecrets"];
  quarantine: Quarantine;
  jobs: Pick<Node["jobs"], "administration">;
  exportPages: ExportPages;
  /** The toolkits that posts may come from. */
  catalog: Pick<Catalog, "toolkits">;
  /** The toolkits that keys of a project may be bound to. */
  views: Pick<CatalogViews, "forProject">;
};
