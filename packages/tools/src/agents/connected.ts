import type { CatalogView } from "@svc/catalog";
import { type Clock, isEntityGranted, isToolkitGranted, type ProjectPrincipal } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import type { ToolAnswer } from "./answer.ts";

/**
 * Entities (customers or users) that have connected accounts of an app and that an agent may use, newest first. `hasMore`: true if more
 * such entities exist than are listed.
 */
type ConnectedApp = { readonly toolkit: string; readonly entityIds: readonly string[]; readonly hasMore: boolean };

/**
 * The tools that a search found, and the caller of the search. svc checks which apps of these tools have connected accounts that the caller
 * may use.
 */
export type ConnectedQuery = {
  readonly view: CatalogView;
  readonly principal: Pick<ProjectPrincipal, "projectId" | "binding">;
  readonly slugs: readonly string[];
};

/**
 * Limits of the connected accounts that one tool answer lists. `toolkitsMax`: apps whose accounts are looked up. `entitiesMax`: entities
 * (customers or users) named for each app.
 */
const toolkitsMax = 5;
const entitiesMax = 5;
const accountsMax = 20;

/**
 * Adds the connected accounts of the toolkits in `slugs` to a tool's answer, and returns the answer. Adds only accounts that the caller may
 * use.
 */
export async function withConnected(
  store: { readonly db: Database; readonly clock: Clock },
  { view, principal, slugs }: ConnectedQuery,
  answer: ToolAnswer,
): Promise<ToolAnswer> {
  const named = new Set(slugs.map((slug) => slug.split(".")[0] ?? ""));
  const toolkits = [...named].filter((slug) => hasAccounts(view, slug) && isToolkitGranted(principal.binding, slug));
  if (toolkits.length === 0) return answer;
  const asked = toolkits.slice(0, toolkitsMax);
  const connected = await Promise.all(asked.map((toolkit) => connectedOf(store, principal, toolkit)));
  const text = `Connected accounts: ${connected.map(textOf).join("; ")}.`;
  return { ...answer, texts: [...answer.texts, text], structured: { ...answer.structured, connected } };
}

function hasAccounts({ toolkits }: CatalogView, slug: string): boolean {
  return toolkits.get(slug)?.auth.some(({ type }) => type !== "none") === true;
}

async function connectedOf(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  { projectId, binding }: ConnectedQuery["principal"],
  toolkit: string,
): Promise<ConnectedApp> {
  const filter = { toolkitSlug: toolkit, entityId: binding?.entityId ?? "", state: "active" } as const;
  const page = { after: undefined, limit: accountsMax };
  const rows = await connectedAccountsForProject(db, projectId).list(filter, page, clock.now());
  const reached = rows.filter(({ entityId }) => isEntityGranted(binding, entityId));
  const entityIds = [...new Set(reached.map(({ entityId }) => entityId))];
  const hasMore = entityIds.length > entitiesMax || rows.length === accountsMax;
  return { toolkit, entityIds: entityIds.slice(0, entitiesMax), hasMore };
}

function textOf({ toolkit, entityIds, hasMore }: ConnectedApp): string {
  if (entityIds.length === 0) return `${toolkit}: none`;
  const named = entityIds.map((id) => (id === "" ? "the project's own, without entity_id" : JSON.stringify(id)));
  return `${toolkit}: entity_id ${named.join(", ")}${hasMore ? " and others" : ""}`;
}
