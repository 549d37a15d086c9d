import type { NamedFile } from "../../ui/fields/dropped-files.ts";
import { type ReadDefinition, readDefinition } from "./read-files.ts";

/** So much text is read; the service takes half of it. */
const bytesMax = 1_048_576;

/** Reads a definition out of files of this computer, of which those are read that can be a part of one. */
export async function readChosen(files: readonly NamedFile[]): Promise<ReadDefinition> {
  const wanted = files.filter(({ path }) => /\.(?:json|ya?ml)$/.test(path));
  const bytes = wanted.reduce((sum, { file }) => sum + file.size, 0);
  if (bytes > bytesMax) return { problem: "That is more than 1 MiB: a definition has at most 512 KiB." };
  const read = wanted.length === 0 ? files.slice(0, 1) : wanted;
  return await readDefinition(
    await Promise.all(
      read.map(async ({ path, file }) => ({ path, text: wanted.length === 0 ? "" : await file.text() })),
    ),
  );
}
