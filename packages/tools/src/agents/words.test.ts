import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { call, Fault, text, wait } from "@svc/core";
import { expect, test } from "vitest";
import { instructions, metaTools } from "./meta-tools.ts";
import { spoken, spokenFault } from "./words.ts";

const root = join(import.meta.dirname, "../../../..");
const filesBelow = (folder: string, ending: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => ending.test(path) && !/\btest\b/.test(path))
    .map((path) => readFileSync(join(root, folder, path), "utf8"));

// Names of one word, such as Search, are ordinary words too.
const calls = filesBelow("proto/svc/v1", /\.proto$/).flatMap((text) =>
  [...text.matchAll(/\brpc ([A-Z][a-z]+[A-Z]\w*)\(/g)].map(([, name]) => name),
);
const pattern = new RegExp(`\\b(?:${calls.join("|")})\\b`);

test("texts for agents about their tools name no API calls", () => {
  expect(calls.length).toBeGreaterThan(50);
  for (const text of [instructions, JSON.stringify(metaTools)]) expect(text).not.toMatch(pattern);
});

test("answers of calls use the terms of agents' tools", () => {
  // Packages whose error texts reach agents. Calling a skill submits a program, which may be refused, so `jobs` and `program` are among
  // them.
  const reached = ["core", "catalog", "connections", "tools", "program", "jobs", "asks"];
  const sources = reached.flatMap((name) => filesBelow(`packages/${name}/src`, /\.ts$/));
  // Only sentences are checked, because plain names are keys and filters of page tokens.
  const sentences = sources.flatMap((text) => text.match(/"[^"\n]* [^"\n]*"|`[^`\n]* [^`\n]*`/g) ?? []);
  const named = sentences.filter((sentence) => pattern.test(sentence));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((sentence) => pattern.test(spoken(sentence)))).toEqual([]);
});

test("an API call is named as the agent's tool for it", () => {
  expect(spoken("SearchTools finds them; toolSlug is missing")).toBe("search_tools finds them; slug is missing");
  expect(spoken("connect one with InitiateConnection")).toBe("connect one with the application");
});

test("HTTP refusals use these terms too, and say how long to wait", () => {
  const help = text`Send the same request again ${wait}, or raise the quota (${call("SetProjectPolicy")}).`;
  const spoken = spokenFault(new Fault("resource_exhausted", "x", [{ reason: "X", help }], 1_000));
  expect(spoken.details[0]?.help).toBe(
    "Send the same request again after 1 s, or raise the quota (the project's policy).",
  );
  expect(spoken).toMatchObject({ code: "resource_exhausted", message: "x", retryAfterMs: 1_000 });
});
