import { expect, test } from "vitest";
import { readSources, type SourceFile } from "./source.ts";

/** Ways to decode bytes that replace invalid UTF-8, so that two different byte sequences become the same text. */
const replacing: readonly { readonly way: string; readonly code: RegExp }[] = [
  // Sealed data was text when it was sealed, and is opened unchanged or not at all. So it may be decoded like this.
  { way: "toString", code: /(?<!\bopen\(.*\))\.toString\(\s*(?:["'`]utf-?8["'`].*)?\)/i },
  { way: "TextDecoder", code: /new TextDecoder\((?!.*fatal: true)/ },
  { way: "StringDecoder or setEncoding", code: /\bStringDecoder\b|\.setEncoding\(/ },
  { way: "text() or json() of an answer", code: /\.(?:text|json)\(\)/ },
  { way: "readFile with an encoding", code: /\breadFile(?:Sync)?\(.*["'`]utf-?8["'`]/i },
];

/** Files that may decode bytes like this, because the service wrote the bytes or because the text is only shown. */
const exceptions: readonly { readonly file: string; readonly why: string }[] = [
  { file: "packages/catalog/src/read/checked-toolkits.ts", why: "it comes with the service" },
  { file: "packages/catalog/src/read/parsed-definitions.ts", why: "the service keeps it for itself" },
  { file: "packages/cli/src/custom/completion.ts", why: "it comes with the service" },
  { file: "packages/cli/src/custom/trigger/provider-answer.ts", why: "the service's own answer, which is shown" },
  { file: "packages/cli/src/serve-program.ts", why: "it comes with the service" },
  { file: "packages/core/src/text/foreign-text.ts", why: "it looks whether the bytes are UTF-8 first" },
  { file: "packages/db/src/embedded/binaries.ts", why: "it comes with the service" },
  { file: "packages/db/src/embedded/backup/foreign-objects.ts", why: "it comes with the service" },
  { file: "packages/db/src/embedded/backup/files.ts", why: "the service writes it, in ASCII" },
  { file: "packages/db/src/embedded/initialize.ts", why: "the service writes it, in ASCII" },
  {
    file: "packages/db/src/embedded/data-folder.ts",
    why: "PostgreSQL and the kernel write it, and it is compared alone",
  },
  { file: "packages/sandbox/src/transport.ts", why: "it is compared with what the sandbox made" },
  { file: "packages/sandbox/src/oauth/token.ts", why: "the service's own request, within the process" },
  { file: "packages/server/src/authorization/consent-page.ts", why: "it comes with the service" },
  {
    file: "packages/sandbox/src/inboxes.ts",
    why: "it shows the first bytes of a body, which may end inside a character",
  },
  { file: "packages/server/src/authorization/device.ts", why: "it comes with the service" },
  { file: "packages/server/src/authorization/html.ts", why: "it comes with the service" },
  { file: "packages/server/src/people/invitation-page.ts", why: "it comes with the service" },
  { file: "packages/server/src/console/read-files.ts", why: "it comes with the service" },
  { file: "packages/server/src/docs/docs.ts", why: "it comes with the service" },
  { file: "packages/server/src/rpc/connect-call.ts", why: "the service's own answer" },
  { file: "packages/server/src/pages/probes.ts", why: "the service's own figures" },
  { file: "packages/server/src/processes/supervisor.ts", why: "the service's own figures" },
  { file: "packages/server/src/processes/one-process.ts", why: "lines of the service's own processes" },
  { file: "packages/server/src/version.ts", why: "it comes with the service" },
  {
    file: "packages/tools/src/call/redact/readings.ts",
    why: "it looks for secrets in every reading, damaged ones too",
  },
  { file: "packages/tools/src/call/redact/redact.ts", why: "a credential of the service's own" },
  { file: "packages/tools/src/call/prepare/secret-uses.ts", why: "a credential of the service's own" },
];

/** Tests, code that only tests use, and code that does not run in the service. */
const elsewhere =
  /^packages\/(?:testing|console|site|db\/plans)\/|\/test-[^/]+\.ts$|\/testing\.ts$|\.(?:test|fixture)\.ts$/;

/** Lists the lines of a source that decode bytes like this. Comments do not count. */
function replacingLines({ path, text }: SourceFile): string[] {
  const lines = text.split("\n").map((line, index) => ({ line, place: `${path}:${index + 1}` }));
  return lines
    .filter(({ line }) => !/^\s*(?:\/\/|\*|\/\*)/.test(line) && replacing.some(({ code }) => code.test(line)))
    .map(({ line, place }) => `${place}: ${line.trim()}`);
}

const sources = readSources("packages").filter(({ path }) => !elsewhere.test(path));

test("bytes from outside are read by readForeignText or requireText of packages/core, which replace nothing", () => {
  const excepted = new Set(exceptions.map(({ file }) => file));
  expect(sources.filter(({ path }) => !excepted.has(path)).flatMap(replacingLines)).toEqual([]);
});

test("every exception is still needed", () => {
  const found = new Set(sources.filter((source) => replacingLines(source).length > 0).map(({ path }) => path));
  expect(exceptions.filter(({ file }) => !found.has(file))).toEqual([]);
});

test.each([
  'const text = body.toString("utf8");',
  "const text = body.toString('utf-8', 0, 10);",
  "const text = body.toString();",
  "const text = (await readBody(req)).toString();",
  "const text = new TextDecoder().decode(body);",
  'const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);',
  "const text = await response.text();",
  "const json = await (await fetch(url)).json();",
  'const text = await readFile(file, "utf8");',
  'const text = readFileSync(file, { encoding: "utf-8" });',
  'stream.setEncoding("utf8");',
])("a violation is found: %s", (line) => {
  expect(replacingLines({ path: "packages/tools/src/planted.ts", text: `// planted\n${line}\n` })).toEqual([
    `packages/tools/src/planted.ts:2: ${line}`,
  ]);
});

test.each([
  'const text = sealer.open(sealed, context(id)).toString("utf8");',
  'const text = bytes.toString("base64");',
  'const text = new TextDecoder("utf-8", { fatal: true }).decode(body);',
  "const bytes = await readFile(file);",
  "// body.toString() would replace bytes",
])("what replaces nothing is none: %s", (line) => {
  expect(replacingLines({ path: "packages/tools/src/planted.ts", text: line })).toEqual([]);
});
