import { commandNames, commandOf } from "@svc/cli";
import { expect, test } from "vitest";
import { codeSpansOf, tableRowsOf } from "./markdown.ts";
import { listFiles, readSources, readText } from "./source.ts";

// Checks that docs/reference/calls-and-commands.md names the command for every method of the contract, or the reason why there is none.

type Service = { readonly kind: "service"; readonly name: string; readonly methods: readonly Method[] };
type Method = { readonly name: string; readonly localName: string };

const page = readText("docs/reference/calls-and-commands.md");
const names = commandNames();
/** Commands that do something themselves, and are not only a group of other commands. */
const commands = names.filter((name) => !names.some((other) => other.startsWith(`${name} `)));
const sources = readSources("packages/cli/src").filter(({ path }) => !path.endsWith(".test.ts"));
const services = await readServices();

/** Returns every service of all files into which the contract is compiled. */
async function readServices(): Promise<Service[]> {
  const generated = listFiles("gen/src").filter((path) => path.endsWith("_pb.ts"));
  const modules = generated.map((path) => path.replace(/^gen\/src\/.*?([a-z]+)_pb\.ts$/, "@svc/gen/$1"));
  const loaded: Record<string, unknown>[] = await Promise.all(modules.map((module) => import(module)));
  return loaded.flatMap((module) => Object.values(module).filter(isService));
}

function isService(value: unknown): value is Service {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "service";
}

/** Returns the rows of the table below a service's heading: method and cell. */
function rowsOf(service: Service): [method: string, cell: string][] {
  const [, section = ""] = page.split(`\n### ${service.name}\n`);
  const [text = ""] = section.split(/\n##/);
  return tableRowsOf(text).map(([method = "", cell = ""]) => [method.replaceAll("`", ""), cell]);
}

function commandsIn(text: string): string[] {
  return codeSpansOf(text).flatMap((span) => /^svc ([a-z][a-z -]*)$/.exec(span)?.[1] ?? []);
}

test("the contract has the services that the page has tables of", () => {
  expect(services.length).toBeGreaterThan(8);
  const headings = [...page.matchAll(/^### (\w+)$/gm)].map(([, name = ""]) => name);
  expect(headings.toSorted()).toEqual(services.map(({ name }) => name).toSorted());
});

test.each(services)(
  "every method of $name, and no other, has a row with its command or why there is none",
  (service) => {
    const rows = rowsOf(service);
    expect(rows.map(([method]) => method).toSorted()).toEqual(service.methods.map(({ name }) => name).toSorted());
    const silent = rows.filter(([, cell]) => commandsIn(cell).length === 0 && !/^none: .{10,}/.test(cell));
    expect(silent).toEqual([]);
  },
);

test.each(services)("texts that name a method of $name name its command on the command line", (service) => {
  const wrong = rowsOf(service).flatMap(([method, cell]) => {
    const [, shown = ""] = /^`svc ([a-z -]+?)(?: (?:--[a-z-]+|<[a-z]+>))*`$/.exec(commandOf(method)) ?? [];
    const found = commandsIn(cell);
    const isNamed =
      found.length === 0 ? shown === "" : found.some((name) => name === shown || name === `${shown} list`);
    return isNamed ? [] : [`${method}: ${shown}`];
  });
  expect(wrong).toEqual([]);
});

test.each(services)("the command line calls every method of $name that has a command", (service) => {
  const named = new Set(rowsOf(service).flatMap(([method, cell]) => (commandsIn(cell).length === 0 ? [] : [method])));
  const uncalled = service.methods.filter(({ name, localName }) => {
    // The last part of the pattern is a function of the SDK that makes the call.
    const made = new RegExp(
      `\\.${localName}\\(|\\b(?:call|list)\\((?:\\w+\\.method\\.)?${localName},|\\b${localName}\\(client,`,
    );
    return named.has(name) !== sources.some(({ text }) => made.test(text));
  });
  expect(uncalled.map(({ name }) => name)).toEqual([]);
});

test("every command that the page names exists, and it names every command", () => {
  const cited = new Set(commandsIn(page));
  expect([...cited].filter((name) => !names.includes(name))).toEqual([]);
  expect(commands.filter((name) => !cited.has(name))).toEqual([]);
});
