import type { Catalog, CatalogViews } from "@svc/catalog";
import type { Clock, KeyId, NodeId, PersonId, ProjectId, Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { VaultRotation } from "@svc/db/vault/rotations";
import type { Node, PostQuotas, Quarantine } from "@svc/node";
import type { Admission } from "../admission/admission.ts";
import type { OidcSettings } from "../config/oidc.ts";

/** Reads one page of an export with `read` when it is the project's turn, and returns the page. Projects take turns at each page. */
export type ExportPages = <Page>(projectId: ProjectId, read: () => Promise<Page>) => Promise<Page>;

/** Dependencies of the methods of AdminService. */
export type AdminContext = {
  db: Database;
  clock: Clock;
  /** Encrypts the page tokens of lists. */
  sealer: Sealer;
  /** Name of the deployment's cell, which new ids of projects and new keys carry. Undefined if the deployment is not a cell. */
  cell: string | undefined;
  /** Called with the ids of revoked keys, so that this node refuses these keys from now on. */
  onRevoked: (ids: readonly KeyId[]) => void;
  /**
   * Called after an administrator changed the quotas or the confirmation policy of a project. The function removes the old values from the
   * caches of this node.
   */
  onQuotas: (id: ProjectId) => void;
  /**
   * Called after keys of a project ended, for example because its data was erased. The function removes the project's keys from the caches
   * of this node, so that the node refuses them at once.
   */
  onKeysEnded: (id: ProjectId) => void;
  /** Settings of the identity provider; undefined if the deployment has none. */
  oidc: OidcSettings | undefined;
  /** Returns the address of the service, with which links begin. */
  publicUrl: () => string;
  /** Called after seats of a person changed or ended. The function removes the person's keys and sessions from the caches of this node. */
  onPersonEnded: (keys: readonly KeyId[], id: PersonId) => void;
  nodeId: NodeId;
  /**
   * Starts a rotation of the vault key (see `Vault`), and returns it. A rotation encrypts all stored secrets again with a new key, in the
   * background.
   */
  rotateVault: () => Promise<VaultRotation>;
  /** Counts the running calls of each project on this node. */
  admission: Pick<Admission, "loadOf">;
  /** Counts the webhook posts that this node has received for each project. */
  posts: Pick<PostQuotas, "loadOf">;
  /**
   * True if the deployment defines which projects receive which webhook events. A second project can then be created. False if the
   * deployment does not define this. Every project would then receive the events of all projects, so only one project is allowed.
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
