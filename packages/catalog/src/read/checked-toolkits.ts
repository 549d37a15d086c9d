import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { checkDefinitions } from "../check/check-definitions.ts";
import { DefinitionError } from "./definition-file.ts";
import { filesOf, readDefinitions } from "./read-definitions.ts";

const shippedFolder = fileURLToPath(new URL("../../../../toolkits", import.meta.url));

/** File with the digests of the toolkits (app definitions) that are part of this version of svc. All these toolkits passed the checks. */
export const checkedFile: string = `${shippedFolder}/checked.json`;

/**
 * Returns digests of toolkits (app definitions) that need no check at a start, because exactly these bytes were checked when this version
 * was built. Checking takes a third of the start time. Empty if the file cannot be read; the start then checks everything.
 */
export async function readCheckedToolkits(): Promise<ReadonlySet<string>> {
  try {
    const kept: unknown = JSON.parse(await readFile(checkedFile, "utf8"));
    return new Set(Object.values(kept ?? {}).filter((digest) => typeof digest === "string"));
  } catch {
    return new Set();
  }
}

/**
 * Checks the definitions of all toolkits that are part of svc and returns the new content of `checkedFile`. Rejects with DefinitionError if
 * a definition has errors.
 */
export async function checkShippedToolkits(): Promise<string> {
  const { toolkits } = await readDefinitions([shippedFolder]);
  for (const files of toolkits) checkDefinitions(files);
  const faults = toolkits.flatMap(filesOf).flatMap((file) => file.faults);
  if (faults.length > 0) throw new DefinitionError(faults);
  const digests = toolkits.map(({ folder, digest }) => [folder, digest]);
  return `${JSON.stringify(Object.fromEntries(digests), null, 2)}\n`;
}
