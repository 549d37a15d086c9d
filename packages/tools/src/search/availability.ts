import { type Catalog, isBound, isPlayed, type SandboxMode, type Toolkit } from "@svc/catalog";
import type { Clock, ProjectPrincipal } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import type { Availability, ToolQuery } from "./tool-search.ts";

/** Dependencies for finding out which tools can be called. */
export type AvailabilityParts = { readonly db: Database; readonly clock: Clock; readonly sandboxMode: SandboxMode };

/**
 * Returns for each tool that the caller sees if the caller can call it. `unbound`: the deployment does not configure the app's address.
 * `unconnected`: the caller's entity (customer or user) has no active account of the app. If the caller is not scoped to an entity, each
 * configured tool is `connected`.
 */
export type AvailabilityFinder = (
  view: Catalog,
  principal: ProjectPrincipal,
) => Promise<NonNullable<ToolQuery["availabilityOf"]>>;

/**
 * Maximum number of the accounts of an entity (customer or user) that are read, newest first. One person has accounts of fewer apps than
 * this.
 */
const accountsMax = 200;

/**
 * Creates the function that finds out which tools can be called. It reads the database only for callers that are scoped to an entity
 * (customer or user): one row for each active account of the entity.
 */
export function createAvailabilityFinder({ db, clock, sandboxMode }: AvailabilityParts): AvailabilityFinder {
  return async (view, { projectId, binding }) => {
    const connected =
      binding === undefined || binding.entityId === "" ? undefined : await slugsOf(projectId, binding.entityId);
    return ({ toolkitSlug }) => {
      const toolkit = view.toolkits.get(toolkitSlug);
      return toolkit === undefined ? "connected" : availabilityOf(toolkit, connected);
    };
  };

  function availabilityOf(toolkit: Toolkit, connected: ReadonlySet<string> | undefined): Availability {
    const isSandbox = isPlayed(toolkit, sandboxMode);
    if (!isSandbox && !isBound(toolkit)) return "unbound";
    const needsAccount = toolkit.auth.some(({ type }) => type !== "none" && type !== "client_credentials");
    return !needsAccount ||
      connected === undefined ||
      connected.has(keyOf(toolkit.slug, toolkit.ownerProjectId !== "", isSandbox))
      ? "connected"
      : "unconnected";
  }

  async function slugsOf(projectId: ProjectPrincipal["projectId"], entityId: string): Promise<ReadonlySet<string>> {
    const filter = { toolkitSlug: "", entityId, state: "active" } as const;
    const page = { after: undefined, limit: accountsMax };
    const accounts = await connectedAccountsForProject(db, projectId).list(filter, page, clock.now());
    return new Set(accounts.map(({ toolkitSlug, isPrivate, isSandbox }) => keyOf(toolkitSlug, isPrivate, isSandbox)));
  }
}

/**
 * Returns the key by which accounts of a toolkit (app) are found. An account of a shared toolkit does not belong to a private toolkit with
 * the same slug. An account that the sandbox made up does not belong to a real app, or the other way round.
 */
function keyOf(toolkitSlug: string, isPrivate: boolean, isSandbox: boolean): string {
  return `${isPrivate ? "private" : "shared"} ${isSandbox ? "played" : "live"} ${toolkitSlug}`;
}
