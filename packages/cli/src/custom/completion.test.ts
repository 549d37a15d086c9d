import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandHelp } from "../program.ts";
import { runTestCommand } from "../test-command.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-completion-"));
afterAll(() => rmSync(folder, { recursive: true }));
const scriptOf = (shell: string) => join(folder, `svc.${shell}`);

beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, printed } = await runTestCommand(["completion", shell]);
    expect(code).toBe(0);
    writeFileSync(scriptOf(shell), `${printed.join("\n")}\n`);
  }
});

/** Returns what a real bash offers for each line, whose last word is completed. */
function offeredByBash(lines: readonly (readonly string[])[]): string[][] {
  const asked = lines.map(
    (words) => `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; COMPREPLY=()
_svc; echo "\${COMPREPLY[*]}"`,
  );
  const program = join(folder, "ask.bash");
  writeFileSync(program, `set -u\nsource '${scriptOf("bash")}'\n${asked.join("\n")}\n`);
  const output = execFileSync("bash", ["--norc", program], { encoding: "utf8" });
  return output
    .slice(0, -1)
    .split("\n")
    .map((line) => line.split(" ").filter(Boolean));
}

const every = commandHelp().flatMap((topic) => [topic, ...topic.members]);

test("bash completes every command and every option", () => {
  const [names = []] = offeredByBash([["svc", ""]]);
  expect(names.toSorted()).toEqual(
    commandHelp()
      .map(({ name }) => name)
      .toSorted(),
  );
  const members = offeredByBash(every.map(({ name }) => ["svc", ...name.split(" "), ""]));
  const options = offeredByBash(every.map(({ name }) => ["svc", ...name.split(" "), "--"]));
  for (const [index, { name, members: known, options: declared }] of every.entries()) {
    const short = known.map((member) => member.name.split(" ").at(-1));
    expect(members[index], name).toEqual(expect.arrayContaining(short));
    const long = declared.flatMap(({ term }) => /--[\w-]+/.exec(term) ?? []);
    expect(options[index], name).toEqual(expect.arrayContaining([...long, "--profile"]));
  }
});

test("bash completes the values of options and arguments, after other options and their values, and parts of words", () => {
  const states = ["pending", "active", "expired", "superseded", "revoked"];
  const lines = [
    ["svc", "connections", "list", "--state", ""],
    ["svc", "connections", "list", "--state", "=", "re"],
    ["svc", "connections", "list", "--entity", "list", "--state", "p"],
    ["svc", "--profile", "jobs", "connections", "list", "--sta"],
    ["svc", "completion", ""],
    ["svc", "jo"],
    ["svc", "jobs", "submit", ""],
    ["svc", "connections", "list", "--entity", ""],
    ["svc", "nonsense", "lis"],
  ];
  expect(offeredByBash(lines)).toEqual([
    states,
    ["revoked"],
    ["pending"],
    ["--state"],
    ["bash", "zsh", "fish"],
    ["jobs"],
    // bash then completes the names of files.
    [],
    [],
    ["listen"],
  ]);
});

test("an unknown shell is refused with the known ones, and JSON has the same script", async () => {
  expect(await runTestCommand(["completion", "tcsh"])).toMatchObject({
    code: 2,
    noted: expect.arrayContaining([expect.stringContaining("Allowed choices are bash, zsh, fish")]),
  });
  const { printed: plain } = await runTestCommand(["completion", "bash"]);
  const { printed: json } = await runTestCommand(["completion", "bash", "--json"]);
  expect(JSON.parse(json.join("\n"))).toMatchObject({
    shell: "bash",
    script: expect.stringContaining(plain.join("\n")),
  });
});

test("fish completes commands, options and values", ({ skip }) => {
  if (!existsSync("/usr/bin/fish")) skip("fish is not on this machine");
  const offered = (line: string) =>
    execFileSync("fish", ["--no-config", "-c", `source '${scriptOf("fish")}'; complete --do-complete '${line}'`], {
      encoding: "utf8",
      env: { ...process.env, HOME: folder },
    })
      .split("\n")
      .filter(Boolean);
  expect(offered("svc jo")).toEqual(["jobs"]);
  expect(offered("svc connections list --state re")).toEqual(["revoked"]);
  expect(offered("svc jobs list --stat")).toEqual(["--status"]);
});

test("zsh completes commands, options and values", ({ skip }) => {
  if (!existsSync("/usr/bin/zsh")) skip("zsh is not on this machine");
  const offered = (...words: string[]) => {
    const asking = `autoload -Uz compinit; compinit -D; source '${scriptOf("zsh")}'
compadd() { shift; print -r -- $@ }; compset() { : }; _files() { print files }
words=(${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length}; _svc`;
    return execFileSync("zsh", ["-f", "-c", asking], { encoding: "utf8" }).trim().split(" ");
  };
  expect(offered("svc", "jo")).toContain("jobs");
  expect(offered("svc", "connections", "list", "--state", "")).toContain("revoked");
  expect(offered("svc", "connections", "list", "--state=re")).toContain("revoked");
  expect(offered("svc", "jobs", "list", "--")).toContain("--status");
  expect(offered("svc", "jobs", "submit", "")).toEqual(["files"]);
});
