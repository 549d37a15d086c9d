import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeToolkits } from "@svc/testing/catalog";
import { deskDefinition } from "@svc/testing/private-webhook";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runTestCommand } from "../../test-command.ts";

const { codeHost, watcher } = sampleToolkits;
let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-catalog-check-"));
  await writeToolkits(folder, [codeHost, watcher]);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const check = (argv: string[], variables: Record<string, string> = {}) => {
  return runTestCommand(["catalog", "check", ...argv], variables);
};

/** Replaces one text by another in a file, so that the definition in it becomes invalid. */
async function damage(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, "utf8");
  expect(text).toContain(from);
  await writeFile(file, text.replace(from, to));
}

test("sound definitions are counted by class, in the folders of SVC_TOOLKITS as the service reads it", async () => {
  const actions = Object.values(codeHost.tools).filter(({ kind }) => kind === "action");
  const triggers = Object.values(codeHost.tools).length - actions.length + Object.keys(watcher.tools).length;
  const { code, printed, noted } = await check([], { SVC_TOOLKITS: folder });
  expect({ code, noted }).toEqual({ code: 0, noted: [] });
  expect(printed).toEqual([
    expect.stringMatching(
      new RegExp(
        `^2 toolkits, ${actions.length} tools? \\(\\d+ read, \\d+ write, \\d+ destructive\\), ${triggers} triggers: no problems \\(\\d+ ms\\)$`,
      ),
    ),
  ]);
});

test("every fault of every file is a line with file, line, path, reason and cure", async () => {
  const toolkit = join(folder, "code_host", "toolkit.yaml");
  const trigger = join(folder, "watcher", "tools", "changed.yaml");
  await damage(toolkit, '"version": "0.1.0"', '"version": "1"');
  await damage(trigger, "{{query.room}}", "{{query.room | upper}}");
  const { code, printed, noted } = await check([folder]);
  expect(code).toBe(1);
  expect(printed).toEqual([
    expect.stringMatching(/\/code_host\/toolkit\.yaml:\d+ version: is "1", which must match pattern .*; write the ver/),
    expect.stringMatching(/\/watcher\/tools\/changed\.yaml:\d+ payload\.room: "upper" is not a filter.*; write \{\{/),
  ]);
  expect(noted).toEqual([`svc: 2 problems in ${folder}`]);
  const [, line] = /toolkit\.yaml:(\d+) /.exec(printed[0] ?? "") ?? [];
  expect((await readFile(toolkit, "utf8")).split("\n")[Number(line) - 1]).toContain('"version"');
});

test("the folder of one toolkit is checked alone, and its faults name the files it was given by", async () => {
  const own = join(folder, "code_host");
  await damage(join(folder, "watcher", "toolkit.yaml"), '"version": "0.1.0"', '"version": "1"');
  expect(await check([own])).toMatchObject({ code: 0, printed: [expect.stringMatching(/^1 toolkit, /)] });
  await damage(join(own, "toolkit.yaml"), '"version": "0.1.0"', '"version": "1"');
  for (const given of [own, `${own}/`]) {
    const { code, printed } = await check([given]);
    expect(code).toBe(1);
    expect(printed).toEqual([expect.stringContaining(`${own}/toolkit.yaml:`)]);
  }
});

test("two folders with one slug are told apart by their own names", async () => {
  const [first, second] = [join(folder, "code_host"), join(folder, "copies", "code_host")];
  await cp(first, second, { recursive: true });
  const { code, printed } = await check([first, second]);
  expect(code).toBe(1);
  const line = `${second}/toolkit.yaml:2 slug: "code_host" is taken by ${first}/toolkit.yaml; rename one of the two, or load one folder only`;
  expect(printed).toEqual([line]);
});

test("a deployment file is checked with the definitions, and of other toolkits only when no folder is given", async () => {
  const deployment = join(folder, "deployment.yaml");
  await writeFile(deployment, "toolkits:\n  watcher: {}\n  elsewhere: {}\n");
  const unknown = [expect.stringMatching(/deployment\.yaml:3 toolkits\.elsewhere: is not a toolkit of the definition/)];
  expect(await check([], { SVC_TOOLKITS: folder, SVC_DEPLOYMENT: deployment })).toMatchObject({ printed: unknown });
  expect(await check([folder], { SVC_DEPLOYMENT: deployment })).toMatchObject({ code: 0 });
  expect(await check([join(folder, "watcher"), "--deployment", deployment])).toMatchObject({ code: 0 });
});

test("an overlay that spoils a definition is a fault of that definition", async () => {
  const deployment = join(folder, "deployment.yaml");
  await writeFile(deployment, "toolkits: { watcher: { overlay: { toolkit: { version: one } } } }\n");
  const { code, printed } = await check([join(folder, "watcher"), "--deployment", deployment]);
  expect(code).toBe(1);
  expect(printed).toEqual([expect.stringMatching(/toolkit\.yaml \(with the overlay of .*\):\d+ version: is "one", /)]);
});

test("a faulty deployment file hides no fault of a definition", async () => {
  const deployment = join(folder, "deployment.yaml");
  await writeFile(deployment, "toolkits: { watcher: { host: 1 } }\n");
  await damage(join(folder, "watcher", "toolkit.yaml"), '"version": "0.1.0"', '"version": "1"');
  const { printed } = await check([folder, "--deployment", deployment]);
  expect(printed).toEqual([
    expect.stringMatching(/deployment\.yaml:1 toolkits\.watcher\.host: is not known here; use one of /),
    expect.stringMatching(/watcher\/toolkit\.yaml:\d+ version: /),
  ]);
});

test("the faults of a deployment file in itself, in its names and in its overlays are told at once", async () => {
  const deployment = join(folder, "deployment.yaml");
  await writeFile(
    deployment,
    "toolkits:\n  code_host: { provider_base_url: http://code.example.com }\n  watcher: { overlay: { toolkit: { version: one } } }\n  elsewhere: {}\n",
  );
  const { printed } = await check(["--deployment", deployment], { SVC_TOOLKITS: folder });
  expect(printed).toEqual([
    expect.stringMatching(/deployment\.yaml:2 toolkits\.code_host\.provider_base_url: .* is not an https address/),
    expect.stringMatching(/watcher\/toolkit\.yaml \(with the overlay of .*\):\d+ version: is "one"/),
    expect.stringMatching(/deployment\.yaml:4 toolkits\.elsewhere: is not a toolkit/),
  ]);
});

test.each([
  ["is not there", "nope", [expect.stringMatching(/nope: cannot be listed; name a folder/)], /^svc: 1 problem in /],
  [
    "holds no toolkit",
    "code_host/tools",
    [],
    /^svc: there is no toolkit in .*: a toolkit is a folder <slug> with toolkit\.yaml/,
  ],
])("a folder that %s ends with 1", async (_, name, printed, text) => {
  expect(await check([join(folder, name)])).toEqual({ code: 1, printed, noted: [expect.stringMatching(text)] });
});

test("a private toolkit is checked by the rules of publishing, and needs no secretEnv", async () => {
  const own = join(folder, "own");
  await writeToolkits(own, [JSON.parse(deskDefinition())]);
  const desk = join(own, "desk");
  const sound = /^1 toolkit, 0 tools .*, 1 trigger: no problems/;
  const noted = [expect.stringMatching(/^Checked as private toolkits, because they have no secretEnv: .*own\/desk\.$/)];
  for (const given of [desk, own])
    expect(await check([given])).toEqual({ code: 0, printed: [expect.stringMatching(sound)], noted });
  await cp(join(folder, "watcher"), join(own, "watcher"), { recursive: true });
  expect(await check([own])).toEqual({
    code: 0,
    printed: [expect.stringMatching(/^2 toolkits, .*, 2 triggers: /)],
    noted,
  });
  // The service itself reads the folders of SVC_TOOLKITS, and they cannot have private toolkits.
  expect(await check([], { SVC_TOOLKITS: own })).toEqual({
    code: 1,
    printed: [
      expect.stringMatching(/desk\/toolkit\.yaml:\d+ webhook\.secretEnv: is missing; /),
      expect.stringMatching(/ticket_opened\.yaml:\d+ entity: is in a shared definition/),
    ],
    noted: [expect.stringMatching(/^A private toolkit has no secretEnv: /), expect.stringMatching(/2 problems/)],
  });
  await rm(join(own, "watcher"), { recursive: true });
  for (const given of [desk, own])
    expect(await check([given, "--private"])).toMatchObject({
      ...{ code: 0, noted: [] },
      printed: [expect.stringMatching(sound)],
    });
  const trigger = join(desk, "tools", "ticket_opened.yaml");
  await damage(trigger, '"entity"', '"account"');
  const { code, printed } = await check([desk, "--private"]);
  expect(code).toBe(1);
  expect(printed).toEqual([
    expect.stringMatching(/tools\/ticket_opened\.yaml:\d+ account: is in a private definition/),
  ]);
  const [, line] = /yaml:(\d+) /.exec(printed[0] ?? "") ?? [];
  expect((await readFile(trigger, "utf8")).split("\n")[Number(line) - 1]).toContain('"account"');
  await damage(trigger, '"account"', '"entity": "", "entity"');
  expect((await check([desk, "--private"])).printed).toEqual([
    expect.stringMatching(/ticket_opened\.yaml:\d+: .*; write it as YAML 1\.2/),
  ]);
});
