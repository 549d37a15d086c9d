import type { Audience } from "@svc/catalog";
import type { Database } from "@svc/db/connect";
import { keepAudience, listProjects, readAudience } from "@svc/db/projects/repo";
import { ConfigError } from "../config/environment.ts";
import type { Config } from "../config/settings.ts";
import type { Logger } from "../logger.ts";

/**
 * True if the deployment defines which projects receive events. If not, every project receives all events, so only one project may exist.
 */
export function isAudienceDeclared({ deploymentFile, webhookAudience }: Config): boolean {
  return deploymentFile !== undefined || webhookAudience !== undefined;
}

/**
 * Returns the error for a missing SVC_WEBHOOK_AUDIENCE. Without this variable, SVC_BOOTSTRAP_KEY would add one more project, and every
 * project would receive all events.
 */
export function audienceFault(): ConfigError {
  const message =
    'is unset, and SVC_BOOTSTRAP_KEY would add project "default" to other projects, each of which would receive all events; set it to accounts or projects';
  return new ConfigError([{ variable: "SVC_WEBHOOK_AUDIENCE", message }]);
}

/**
 * Returns `accounts` if this start sets no audience and an earlier start had set `accounts`. Otherwise returns undefined. The audience says
 * which projects receive webhook events.
 */
export async function forgottenAudience(config: Config, db: Database, logger: Logger): Promise<Audience | undefined> {
  if (isAudienceDeclared(config) || (await readAudience(db)) !== "accounts") return undefined;
  logger.warn(
    "SVC_WEBHOOK_AUDIENCE and SVC_DEPLOYMENT are unset: events go to accounts (the projects with the account that a post names), as set at an earlier start. Set SVC_WEBHOOK_AUDIENCE to accounts, or to projects if every project must receive every event",
  );
  return "accounts";
}

/**
 * Stores the audience (rule of which projects receive events) of this start, so that later starts can use it. Changes nothing if this start
 * defines none.
 */
export async function noteAudience({ webhookAudience, deploymentFile }: Config, db: Database): Promise<void> {
  const audience = webhookAudience ?? (deploymentFile === undefined ? undefined : "accounts");
  if (audience !== undefined) await keepAudience(db, audience);
}

/**
 * Logs a warning if several projects receive each other's events. This is possible if the projects were created with a version that did not
 * require an audience (rule of which projects receive events).
 */
export async function warnOfAudience(config: Config, db: Database, logger: Logger): Promise<void> {
  if (isAudienceDeclared(config)) return;
  const projects = await listProjects(db, { after: undefined, limit: 2 });
  if (projects.length < 2) return;
  logger.warn(
    "every project receives every event: neither SVC_WEBHOOK_AUDIENCE nor SVC_DEPLOYMENT says otherwise. Set SVC_WEBHOOK_AUDIENCE to accounts (the projects with the account that a post names), or to projects if every project must receive every event. Until then, no project can be added",
  );
}
