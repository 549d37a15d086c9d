import type { Clock, ProjectId } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import type { Node } from "@svc/node";
import type { OfferSources } from "./choice.ts";

/** So many accounts, the newest, tell whose they are; of others the name is typed. */
const accountsMax = 200;

/** Makes the way to what a project has to choose from: its toolkits, and entities that have accounts. */
export function createSourcesOf({
  db,
  clock,
  views,
}: {
  db: Database;
  clock: Clock;
  views: Node["views"];
}): (projectId: ProjectId) => Promise<OfferSources> {
  const every = { toolkitSlug: "", entityId: "", state: "" } as const;
  return async (projectId) => {
    const [view, accounts] = await Promise.all([
      views.forProject(projectId),
      connectedAccountsForProject(db, projectId).list(every, { after: undefined, limit: accountsMax }, clock.now()),
    ]);
    const toolkits = [...view.toolkits.values()].map(({ slug, name }) => ({ slug, name }));
    return {
      toolkits: toolkits.toSorted((a, b) => a.name.localeCompare(b.name, "en")),
      entities: accounts.map(({ entityId }) => entityId),
    };
  };
}
