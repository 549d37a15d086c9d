import { readdirSync } from "node:fs";
import { commandNames } from "@svc/cli";
import { runTestCommand } from "@svc/cli/test-command";
import { expect, test } from "vitest";

// The help of every command as bytes. `npx vitest run test/golden/help.test.ts -u` writes it again.

const names = ["", ...commandNames()];
const topicOf = (name: string) => name.split(" ")[0] || "svc";
const topics = [...new Set(names.map(topicOf))];

/** The help of a topic's commands, each behind the line that asks for it. */
async function helpOf(topic: string): Promise<string> {
  const parts: string[] = [];
  for (const name of names.filter((name) => topicOf(name) === topic)) {
    const argv = [...name.split(" ").filter(Boolean), "--help"];
    const { code, printed, noted } = await runTestCommand(argv);
    expect({ code, noted }).toEqual({ code: 0, noted: [] });
    parts.push(`$ svc ${argv.join(" ")}\n${printed.join("\n")}\n`);
  }
  return parts.join("\n");
}

test.each(topics)("help of %s is what was recorded", async (topic) => {
  await expect(await helpOf(topic)).toMatchFileSnapshot(`help/${topic}.txt`);
});

test("no recording is of a topic that is no more", () => {
  const recorded = readdirSync(new URL("help", import.meta.url));
  expect(recorded.toSorted()).toEqual(topics.map((topic) => `${topic}.txt`).toSorted());
});
