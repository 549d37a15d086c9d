import { type Database, listProjects } from "@svc/db";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import type { Logger } from "../logger.ts";

/** Whether the deployment says who receives events. Where it does not, every project receives all of them, so there may be but one. */
export function isAudienceDeclared({ deploymentFile, webhookAudience }: Config): boolean {
  return deploymentFile !== undefined || webhookAudience !== undefined;
}

/** SVC_BOOTSTRAP_KEY asks for project `default` beside others, and nobody says who receives events. */
export function audienceFault(): ConfigError {
  const message =
    'is unset, and SVC_BOOTSTRAP_KEY would make project "default" beside others, each of which would receive all events; set it to accounts or projects';
  return new ConfigError([{ variable: "SVC_WEBHOOK_AUDIENCE", message }]);
}

/** Warns of several projects, made before this was asked for, that receive each other's events. */
export async function warnOfAudience(config: Config, db: Database, logger: Logger): Promise<void> {
  if (isAudienceDeclared(config)) return;
  const projects = await listProjects(db, { after: undefined, limit: 2 });
  if (projects.length < 2) return;
  logger.warn(
    "every project receives every event: neither SVC_WEBHOOK_AUDIENCE nor SVC_DEPLOYMENT says who does. Set SVC_WEBHOOK_AUDIENCE to accounts (whose account a post names), or to projects if that is meant; until then no project is added",
  );
}
