import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, generateApiKey, type ProjectId } from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import { isUniqueViolation } from "@svc/db/driver";
import { createApiKey, ensureApiKey } from "@svc/db/keys/repo";
import { createFirstProject, createProject, findProjectByName } from "@svc/db/projects/repo";
import { generateKey } from "../admin/keys.ts";
import type { Config } from "../config/settings.ts";
import { audienceFault, isAudienceDeclared } from "./audience.ts";
import { readIfThere } from "./vault-key.ts";

/** First key of a new service. `text`: the key itself. `file`: path of the file that contains it. */
export type FirstKey = { text: string; file: string };

/** Name of the file in the data folder that contains the API key that svc creates at its first start. */
export const firstKeyFile = "first-key";

const projectName = "default";

/**
 * Prepares the first API key of a service. If SVC_BOOTSTRAP_KEY is set, adds this key to project `default`, unless it exists already.
 * Otherwise, at the first start of an embedded database, creates the project with an approver key, and writes the key to the file
 * `first-key` (mode 0600). Returns a created key at every start until `noteFirstKeyShown` has recorded that a start showed it.
 */
export async function prepareFirstKey(
  config: Config,
  { db, clock, isEmbedded }: { db: Database; clock: Clock; isEmbedded: boolean },
): Promise<FirstKey | undefined> {
  if (config.bootstrapKey !== undefined) {
    const projectId = await ensureProject(config, db, clock);
    await ensureApiKey(db, approverKey(projectId, "SVC_BOOTSTRAP_KEY", config.bootstrapKey, clock));
    return undefined;
  }
  if (!isEmbedded) return undefined;
  const file = join(config.dataDir, firstKeyFile);
  if ((await findProjectByName(db, projectName)) !== undefined) return unshownKey(file);
  // The new key is written to its file before it is stored in the database. If the start is interrupted between these two, the next start
  // reads the key from the file, so no key is lost.
  const text = (await readIfThere(file))?.trim() || (await writeNewKey(file, config.cell));
  await withTransaction(db, async (tx) => {
    const project = await createProject(tx, projectName, clock.now(), config.cell);
    await createApiKey(tx, approverKey(project.id, "first key", text, clock));
  });
  return { text, file };
}

/** Records that svc has shown the first key, in a file next to the key's file. Later starts then do not show it again. */
export async function noteFirstKeyShown({ file }: FirstKey): Promise<void> {
  await writeFile(markerOf(file), "", { mode: 0o600 });
}

function markerOf(file: string): string {
  return `${file}-shown`;
}

/** Returns the key of an earlier start that ended before it showed the key; undefined if there is none. */
async function unshownKey(file: string): Promise<FirstKey | undefined> {
  const text = existsSync(markerOf(file)) ? undefined : (await readIfThere(file))?.trim();
  return text ? { text, file } : undefined;
}

function approverKey(projectId: ProjectId, name: string, text: string, clock: Clock) {
  return generateKey({ projectId, role: "approver", name, expiresAt: null, nowMs: clock.now(), text }).key;
}

/**
 * Returns the project's id, and creates the project if necessary. Throws ConfigError if this project and others would receive each other's
 * events.
 */
async function ensureProject(config: Config, db: Database, clock: Clock): Promise<ProjectId> {
  const known = await findProjectByName(db, projectName);
  if (known !== undefined) return known.id;
  const create = isAudienceDeclared(config) ? createProject : createFirstProject;
  try {
    const project = await create(db, projectName, clock.now(), config.cell);
    if (project === undefined) throw audienceFault();
    return project.id;
  } catch (error) {
    // Another node has created the project at the same time.
    const made = isUniqueViolation(error, "projects_name") ? await findProjectByName(db, projectName) : undefined;
    if (made === undefined) throw error;
    return made.id;
  }
}

async function writeNewKey(file: string, cell: string | undefined): Promise<string> {
  const text = generateApiKey(cell);
  await writeFile(file, `${text}\n`, { mode: 0o600 });
  return text;
}
