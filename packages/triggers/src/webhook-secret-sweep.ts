import type { ProjectId, Sweep } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { listProjects } from "@svc/db/projects/repo";
import { sweepWebhookSecrets } from "@svc/db/secrets/webhook-secrets";

const projectsMax = 200;

/** Returns the sweep (regular task) that deletes expired webhook secrets of private toolkits. It runs every 10 minutes. */
export function webhookSecretSweep({ db }: { readonly db: Executor }): Sweep {
  return {
    what: "ended webhook secrets",
    everyMs: 600_000,
    async *round(nowMs) {
      let after: ProjectId | undefined;
      do {
        const projects = await listProjects(db, { after, limit: projectsMax });
        const ids = projects.map(({ id }) => id);
        if (ids.length > 0) await sweepWebhookSecrets(db, ids, nowMs);
        after = ids.length < projectsMax ? undefined : ids.at(-1);
        yield after !== undefined;
      } while (after !== undefined);
    },
  };
}
