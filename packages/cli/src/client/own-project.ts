import type { SvcClient } from "@svc/sdk";

/** Id of the key's own project, which the catalog's calls take in order to show private toolkits. */
export async function ownProjectId({ identity }: SvcClient): Promise<string> {
  return (await identity.getIdentity({})).projectId;
}
