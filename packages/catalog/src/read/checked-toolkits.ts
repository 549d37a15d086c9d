import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { checkDefinitions } from "../check/check-definitions.ts";
import { DefinitionError } from "./definition-file.ts";
import { filesOf, readDefinitions } from "./read-definitions.ts";

const shippedFolder = fileURLToPath(new URL("../../../../toolkits", import.meta.url));

/** File with the digests of this version's own definitions that passed all checks, by toolkit. */
export const checkedFile: string = `${shippedFolder}/checked.json`;

/**
 * Returns digests of toolkits that a start need not check, because they were checked byte for byte when this version was built. Checking
 * takes a third of a start. Empty if the file cannot be read; then everything is checked.
 */
export async function readCheckedToolkits(): Promise<ReadonlySet<string>> {
  try {
    const kept: unknown = JSON.parse(await readFile(checkedFile, "utf8"));
    return new Set(Object.values(kept ?? {}).filter((digest) => typeof digest === "string"));
  } catch {
    return new Set();
  }
}

/** Checks all definitions of the service and returns the content of that file. Rejects with DefinitionError. */
export async function checkShippedToolkits(): Promise<string> {
  const { toolkits } = await readDefinitions([shippedFolder]);
  for (const files of toolkits) checkDefinitions(files);
  const faults = toolkits.flatMap(filesOf).flatMap((file) => file.faults);
  if (faults.length > 0) throw new DefinitionError(faults);
  const digests = toolkits.map(({ folder, digest }) => [folder, digest]);
  return `${JSON.stringify(Object.fromEntries(digests), null, 2)}\n`;
}
