import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommandContext } from "./context.ts";
import { readJsonOption, readSecret, readText } from "./input.ts";

const contextOf = (input: Buffer) => ({ readInput: async () => input }) as CommandContext;

test("files and standard input are read as text, with a byte order mark or without; what is not text is refused", async () => {
  const file = join(await mkdtemp(join(tmpdir(), "svc-input-")), "in.json");
  for (const bytes of [
    Buffer.from('{"a":"ü"}'),
    Buffer.from('\ufeff{"a":"ü"}'),
    Buffer.from('\ufeff{"a":"ü"}', "utf16le"),
  ]) {
    await writeFile(file, bytes);
    expect(await readText(file, "--file", contextOf(bytes))).toBe('{"a":"ü"}');
    expect(await readJsonOption("--body", "@-", contextOf(bytes))).toBe('{"a":"ü"}');
  }
  const broken = Buffer.from('{"a":"caf\xe9"}', "latin1");
  await writeFile(file, broken);
  await expect(readText(file, "--file", contextOf(broken))).rejects.toThrow(/--file cannot be read: it is not text/);
  await expect(readText("-", "--file", contextOf(broken))).rejects.toThrow(/cannot be read: it is not text/);
});

test("a secret that is not text is refused, and not quoted", async () => {
  const source = { fromInput: true, variable: undefined, option: "--secret-stdin" } as const;
  expect(await readSecret("secret", source, contextOf(Buffer.from("pa\u00dfwort\n")))).toBe("pa\u00dfwort");
  const refused = readSecret("secret", source, contextOf(Buffer.from("pa\xdfwort", "latin1")));
  await expect(refused).rejects.toThrow(/^secret: standard input is not text of the charset UTF-8$/);
});
