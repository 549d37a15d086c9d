import { join } from "node:path";
import { digestSecret } from "@svc/core";
import { findCallerKey } from "@svc/db/keys/repo";
import { isValidKey } from "../auth/key-cache.ts";
import { isLoopbackHost } from "../config/loopback.ts";
import type { Config } from "../config/settings.ts";
import { createSignInLink, type SignInLinks } from "../console/service.ts";
import { firstKeyFile } from "./first-key.ts";
import { readIfThere } from "./vault-key.ts";

/**
 * Returns a link that opens the console once, with the access of the first key. It is meant for people who start svc for themselves.
 * Undefined if other people share or may reach the database, or if the first key is no longer valid.
 */
export async function firstConsoleLink(
  config: Pick<Config, "databaseUrl" | "host" | "dataDir" | "bootstrapKey" | "cell">,
  links: Omit<SignInLinks, "cell">,
): Promise<string | undefined> {
  if (config.databaseUrl !== undefined || !isLoopbackHost(config.host)) return undefined;
  const text = config.bootstrapKey ?? (await readIfThere(join(config.dataDir, firstKeyFile)))?.trim();
  const key = text ? await findCallerKey(links.db, digestSecret(text)) : undefined;
  if (key === undefined || !isValidKey(key, links.clock.now())) return undefined;
  return (await createSignInLink({ ...links, cell: config.cell }, { projectId: key.projectId, keyId: key.id })).url;
}
