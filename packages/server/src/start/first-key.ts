import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, generateApiKey, type ProjectId } from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import { isUniqueViolation } from "@svc/db/driver";
import { createApiKey, ensureApiKey } from "@svc/db/keys/repo";
import { createFirstProject, createProject, findProjectByName } from "@svc/db/projects/repo";
import { generateKey } from "../admin/keys.ts";
import type { Config } from "../config/config.ts";
import { audienceFault, isAudienceDeclared } from "./audience.ts";
import { readIfThere } from "./vault-key.ts";

/** The key a new service starts with: its text, and the file it is kept in. */
export type FirstKey = { text: string; file: string };

/** The file in the data folder that has the first key. */
export const firstKeyFile = "first-key";

const projectName = "default";

/**
 * With SVC_BOOTSTRAP_KEY: makes project `default` hold that key, unless it knows it already. Without, on an embedded store's
 * first start: makes the project with an approver key and writes it to `first-key` (mode 0600). Returns that key until a start has
 * noted by `noteFirstKeyShown` that it was shown.
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
  // The file comes first: a start that ends between the two finds it again, and no key is lost.
  const text = (await readIfThere(file))?.trim() || (await writeNewKey(file));
  await withTransaction(db, async (tx) => {
    const project = await createProject(tx, projectName, clock.now());
    await createApiKey(tx, approverKey(project.id, "first key", text, clock));
  });
  return { text, file };
}

/** Notes beside the key's file that a start has shown it. */
export async function noteFirstKeyShown({ file }: FirstKey): Promise<void> {
  await writeFile(markerOf(file), "", { mode: 0o600 });
}

function markerOf(file: string): string {
  return `${file}-shown`;
}

/** The key of a start that did not come as far as to show it. */
async function unshownKey(file: string): Promise<FirstKey | undefined> {
  const text = existsSync(markerOf(file)) ? undefined : (await readIfThere(file))?.trim();
  return text ? { text, file } : undefined;
}

function approverKey(projectId: ProjectId, name: string, text: string, clock: Clock) {
  return generateKey({ projectId, role: "approver", name, expiresAt: null, nowMs: clock.now(), text }).key;
}

/** Throws ConfigError where other projects would receive the events of this one, or the other way. */
async function ensureProject(config: Config, db: Database, clock: Clock): Promise<ProjectId> {
  const known = await findProjectByName(db, projectName);
  if (known !== undefined) return known.id;
  const create = isAudienceDeclared(config) ? createProject : createFirstProject;
  try {
    const project = await create(db, projectName, clock.now());
    if (project === undefined) throw audienceFault();
    return project.id;
  } catch (error) {
    // Another node was quicker.
    const made = isUniqueViolation(error, "projects_name") ? await findProjectByName(db, projectName) : undefined;
    if (made === undefined) throw error;
    return made.id;
  }
}

async function writeNewKey(file: string): Promise<string> {
  const text = generateApiKey();
  await writeFile(file, `${text}\n`, { mode: 0o600 });
  return text;
}
