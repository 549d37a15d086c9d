import { expect, test } from "vitest";
import { agentName, grantStateWord, grantText } from "./grants.ts";

test("what a grant lets an agent do is said whole, and what it does not bound is said, too", () => {
  expect(grantText({ entityId: "ada", accessClasses: ["read", "write"], toolkitSlugs: ["calendar"] })).toBe(
    "read and write tools of calendar, for ada alone",
  );
  expect(grantText({ entityId: "", accessClasses: ["read", "write", "destructive"], toolkitSlugs: [] })).toBe(
    "read, write and destructive tools of every toolkit, for any entity",
  );
});

test("a grant that ended with its key says so, and an agent without a name has its id", () => {
  expect(grantStateWord({ active: false }).says).toContain("The key that it was given with");
  expect(grantStateWord({ active: true })).toMatchObject({ word: "active" });
  expect(agentName({ clientName: "", clientId: "https://agent.example/client.json" })).toBe(
    "https://agent.example/client.json",
  );
});
