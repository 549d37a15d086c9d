import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { parseDefinitionFile, readDefinitionFile } from "./definition-file.ts";
import { openParsedDefinitions } from "./parsed-definitions.ts";

const folders = ["/definitions"];
let cacheDir: string;

beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), "svc-parsed-"));
  onTestFinished(() => rm(cacheDir, { recursive: true }));
});

/** Stores a text with its value as a start does. Returns the value that the next start finds for the text. */
async function foundNext(text: string, value: unknown): Promise<unknown> {
  const parsed = await openParsedDefinitions(folders, cacheDir);
  parsed.note(text, value);
  await parsed.save();
  return (await openParsedDefinitions(folders, cacheDir)).find(text);
}

test("a text's value is found at the next start, and not for another text or other folders", async () => {
  expect(await foundNext("a: 1", { a: 1 })).toEqual({ value: { a: 1 } });
  const next = await openParsedDefinitions(folders, cacheDir);
  expect(next.find("a: 2")).toBeUndefined();
  expect((await openParsedDefinitions(["/others"], cacheDir)).find("a: 1")).toBeUndefined();
});

test("texts that are no longer read are forgotten, once another one is noted", async () => {
  await foundNext("a: 1", { a: 1 });
  await foundNext("a: 2", { a: 2 });
  const next = await openParsedDefinitions(folders, cacheDir);
  expect([next.find("a: 1"), next.find("a: 2")]).toEqual([undefined, { value: { a: 2 } }]);
});

test.each([
  ["a: .inf", { a: Number.POSITIVE_INFINITY }],
  ["a: .nan", { a: Number.NaN }],
  ["a: -0.0", { a: -0 }],
])("what JSON has no word for is not kept: %s", async (text, value) => {
  expect(await foundNext(text, value)).toBeUndefined();
});

test("a damaged file is ignored", async () => {
  await foundNext("a: 1", { a: 1 });
  const [file = ""] = await readdir(cacheDir);
  await writeFile(join(cacheDir, file), '{"a');
  expect((await openParsedDefinitions(folders, cacheDir)).find("a: 1")).toBeUndefined();
  expect(await foundNext("a: 1", { a: 1 })).toEqual({ value: { a: 1 } });
});

test("a folder that cannot be written to is no fault", async () => {
  const parsed = await openParsedDefinitions(folders, join(cacheDir, "none"));
  parsed.note("a: 1", { a: 1 });
  await parsed.save();
  expect(await readdir(cacheDir)).toEqual([]);
});

test("the faults of a definition whose value was known have their lines", () => {
  const text = "toolkit:\n  slug: a\n  name: b\n";
  const parsed = parseDefinitionFile("a.yaml", text);
  const known = readDefinitionFile("a.yaml", text, parsed.value);
  for (const file of [parsed, known]) file.fault(["toolkit", "name"], "is wrong", "mend it");
  expect(known.faults).toEqual(parsed.faults);
  expect(known.faults[0]?.line).toBe(3);
});

test("a number that would be read as another is refused, and every other is read", () => {
  for (const number of ["0.1234567890123456789", "9007199254740993", "1e-400", "1E400", "-4503599627370497.5"]) {
    const { faults } = parseDefinitionFile("a.yaml", `a: 1\nb:\n  - ${number}\n`);
    expect(faults).toEqual([expect.objectContaining({ line: 3, reason: expect.stringContaining(number) })]);
  }
  for (const text of ["'0.1234567890123456789'", "0.1", "1E2", "-0.5", "0x1F", "9007199254740991", "1.50"])
    expect(parseDefinitionFile("a.yaml", `a: ${text}`).faults).toEqual([]);
});
