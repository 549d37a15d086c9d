import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shippedToolkits } from "@svc/testing/shipped-catalog";
import { expect, onTestFinished, test } from "vitest";
import { checkedFile, checkShippedToolkits, readCheckedToolkits } from "./checked-toolkits.ts";
import { DefinitionError } from "./definition-file.ts";
import { loadCatalog } from "./load.ts";
import { readDefinitions } from "./read-definitions.ts";

test("what the service ships with has no fault, and the file says so: after a change, npm run toolkits", async () => {
  expect(await readFile(checkedFile, "utf8")).toBe(await checkShippedToolkits());
});

/** Copies a toolkit to another folder, and changes the text of one of its files. */
async function copyOf(file: string, change: (text: string) => string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "svc-checked-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(join(shippedToolkits, "calendar"), join(folder, "calendar"), { recursive: true });
  const path = join(folder, "calendar", file);
  await writeFile(path, change(await readFile(path, "utf8")));
  return folder;
}

test("a copy is recognized in any folder; a changed one is not, and its faults are found", async () => {
  const known = await readCheckedToolkits();
  const digestIn = async (folder: string) => (await readDefinitions([folder])).toolkits[0]?.digest ?? "none";
  expect(known).toContain(await digestIn(await copyOf("toolkit.yaml", (text) => text)));
  const changed = await copyOf("tools/list_events.yaml", (text) => text.replace("kind: action", "kind: deed"));
  expect(known).not.toContain(await digestIn(changed));
  await expect(loadCatalog({ folders: [changed] })).rejects.toThrow(DefinitionError);
});

test("an unreadable toolkit has no digest", async () => {
  const folder = await copyOf("toolkit.yaml", (text) => text);
  await writeFile(join(folder, "calendar", "tools", "notes.txt"), "");
  expect((await readDefinitions([folder])).toolkits[0]?.digest).toBeUndefined();
  await expect(loadCatalog({ folders: [folder] })).rejects.toThrow("is not a .yaml file");
});
