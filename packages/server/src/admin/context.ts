import type { Catalog, CatalogViews } from "@svc/catalog";
import type { Clock, KeyId, NodeId, ProjectId, Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { VaultRotation } from "@svc/db/vault/rotations";
import type { Node, PostQuotas, Quarantine } from "@svc/node";
import type { Admission } from "../admission/admission.ts";

/** Reads a page of an export when it is the project's turn, and returns the page. */
export type ExportPages = <Page>(projectId: ProjectId, read: () => Promise<Page>) => Promise<Page>;

/** Dependencies of the methods of AdminService. */
export type AdminContext = {
  db: Database;
  clock: Clock;
  /** Encrypts the page tokens of lists. */
  sealer: Sealer;
  /** Called with revoked keys, so that this node refuses them from now on. */
  onRevoked: (ids: readonly KeyId[]) => void;
  /** Called with a project whose quotas or confirmation policy changed, so that this node applies the change. */
  onQuotas: (id: ProjectId) => void;
  /** Called with a project if some of its keys ended. This node then refuses these keys. */
  onKeysEnded: (id: ProjectId) => void;
  nodeId: NodeId;
  /** Starts a rotation of the vault key (see `Vault`): all secrets are encrypted again with a new key. */
  rotateVault: () => Promise<VaultRotation>;
  /** Counts the running calls of each project on this node. */
  admission: Pick<Admission, "loadOf">;
  /** Counts the webhook posts that this node has received for each project. */
  posts: Pick<PostQuotas, "loadOf">;
  /**
   * True if a second project is allowed, because the deployment defines which projects receive events. False if it does not: every project
   * would receive all events.
   */
  isOpenToProjects: boolean;
  deploymentSecrets: Node["deploymentSecrets"];
  quarantine: Quarantine;
  jobs: Pick<Node["jobs"], "administration">;
  exportPages: ExportPages;
  /** The toolkits (apps) from which webhook posts may come. */
  catalog: Pick<Catalog, "toolkits">;
  /** The toolkits (definitions of apps) to which keys of a project may be scoped. */
  views: Pick<CatalogViews, "forProject">;
};
