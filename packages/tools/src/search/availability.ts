import type { Catalog, Toolkit } from "@svc/catalog";
import type { Clock, ProjectPrincipal } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import type { Availability, ToolQuery } from "./tool-search.ts";

/** What tells which tools can be called. */
export type AvailabilityParts = { readonly db: Database; readonly clock: Clock; readonly isSandbox: boolean };

/**
 * How a caller reaches the tools of a view: `unbound` where the deployment does not say where the app is, `unconnected` where the entity
 * that it is bound to has no active account of it. Of a caller who is bound to nobody, every bound tool counts as connected.
 */
export type AvailabilityFinder = (
  view: Catalog,
  principal: ProjectPrincipal,
) => Promise<NonNullable<ToolQuery["availabilityOf"]>>;

/** Accounts of an entity that are looked at, newest first: more than there are apps for one person. */
const accountsMax = 200;

/** Makes the finder. It reads the store for callers bound to an entity alone: one row for each active account of theirs. */
export function createAvailabilityFinder({ db, clock, isSandbox }: AvailabilityParts): AvailabilityFinder {
  return async (view, { projectId, binding }) => {
    const connected =
      binding === undefined || binding.entityId === "" ? undefined : await slugsOf(projectId, binding.entityId);
    return ({ toolkitSlug }) => {
      const toolkit = view.toolkits.get(toolkitSlug);
      return toolkit === undefined ? "connected" : availabilityOf(toolkit, connected);
    };
  };

  function availabilityOf(toolkit: Toolkit, connected: ReadonlySet<string> | undefined): Availability {
    if (!isSandbox && toolkit.baseUrl.includes("{provider_base_url}")) return "unbound";
    const needsAccount = toolkit.auth.some(({ type }) => type !== "none" && type !== "client_credentials");
    return !needsAccount || connected === undefined || connected.has(keyOf(toolkit.slug, toolkit.ownerProjectId !== ""))
      ? "connected"
      : "unconnected";
  }

  async function slugsOf(projectId: ProjectPrincipal["projectId"], entityId: string): Promise<ReadonlySet<string>> {
    const filter = { toolkitSlug: "", entityId, state: "active" } as const;
    const page = { after: undefined, limit: accountsMax };
    const accounts = await connectedAccountsForProject(db, projectId).list(filter, page, clock.now());
    const own = accounts.filter((account) => account.isSandbox === isSandbox);
    return new Set(own.map(({ toolkitSlug, isPrivate }) => keyOf(toolkitSlug, isPrivate)));
  }
}

/** An account of a shared toolkit is none of the private one of its slug. */
function keyOf(toolkitSlug: string, isPrivate: boolean): string {
  return `${isPrivate ? "private" : "shared"} ${toolkitSlug}`;
}
