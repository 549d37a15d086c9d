import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { checkDefinitions } from "../check/check-definitions.ts";
import { DefinitionError } from "./definition-file.ts";
import { filesOf, readDefinitions } from "./read-definitions.ts";

const shippedFolder = fileURLToPath(new URL("../../../../toolkits", import.meta.url));

/** The file of the digests: by toolkit, those of the definitions that this version ships with and whose check found no fault. */
export const checkedFile: string = `${shippedFolder}/checked.json`;

/**
 * Digests of toolkits that need no check at a start, a third of which it is: they are, byte for byte, what was checked when this version
 * was made. Empty where the file cannot be read: then everything is checked.
 */
export async function readCheckedToolkits(): Promise<ReadonlySet<string>> {
  try {
    const kept: unknown = JSON.parse(await readFile(checkedFile, "utf8"));
    return new Set(Object.values(kept ?? {}).filter((digest) => typeof digest === "string"));
  } catch {
    return new Set();
  }
}

/** What the file is to hold: checks all that the service ships with. Rejects with DefinitionError. */
export async function checkShippedToolkits(): Promise<string> {
  const { toolkits } = await readDefinitions([shippedFolder]);
  for (const files of toolkits) checkDefinitions(files);
  const faults = toolkits.flatMap(filesOf).flatMap((file) => file.faults);
  if (faults.length > 0) throw new DefinitionError(faults);
  const digests = toolkits.map(({ folder, digest }) => [folder, digest]);
  return `${JSON.stringify(Object.fromEntries(digests), null, 2)}\n`;
}
