import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { agentName, agentToolsText, boundText, confirmText, grantStateWord, grantText, keyStateWord } from "./keys.ts";

test("a key is valid until it is revoked or its time is over", () => {
  const of = (key: { revokedAt?: number; expiresAt?: number }) =>
    keyStateWord(
      {
        ...(key.revokedAt !== undefined && { revokedAt: timestampFromMs(key.revokedAt) }),
        ...(key.expiresAt !== undefined && { expiresAt: timestampFromMs(key.expiresAt) }),
      },
      1_000,
    ).word;
  expect(of({})).toBe("valid");
  expect(of({ expiresAt: 1_001 })).toBe("valid");
  expect(of({ expiresAt: 1_000 })).toBe("expired");
  expect(of({ expiresAt: 1_000, revokedAt: 1 })).toBe("revoked");
});

test("a key says what it is bound to, and nothing where it is bound to nothing", () => {
  const bound = (entityId: string, accessClasses: string[] = [], toolkitSlugs: string[] = []) =>
    boundText({ entityId, accessClasses, toolkitSlugs });
  expect(bound("")).toBeUndefined();
  expect(bound("ada")).toBe("user ada");
  expect(bound("ada", ["read", "write"], ["calendar"])).toBe("user ada, read and write tools of calendar");
  expect(bound("", [], ["calendar", "notes_wiki"])).toBe("tools of calendar, notes_wiki");
});

test("what is given beside the tools of apps is said, and nothing where nothing is", () => {
  expect(agentToolsText({ agentTools: [] })).toBeUndefined();
  expect(agentToolsText({ agentTools: ["programs", "connect"] })).toBe("Further abilities: programs, connect.");
});

test("which calls wait for whom is said, and nothing where none do", () => {
  expect(confirmText(undefined)).toBeUndefined();
  expect(confirmText({ person: "never", contact: "" })).toBeUndefined();
  expect(confirmText({ person: "destructive", contact: "ada" })).toBe("ada must confirm calls that delete data.");
  expect(confirmText({ person: "writes", contact: "ada" })).toBe("ada must confirm calls that write or delete data.");
});

test("what a grant lets an agent do is said whole, and what it does not bound is said, too", () => {
  expect(grantText({ entityId: "ada", accessClasses: ["read", "write"], toolkitSlugs: ["calendar"] })).toBe(
    "read and write tools of calendar, only for ada",
  );
  expect(grantText({ entityId: "", accessClasses: ["read", "write", "destructive"], toolkitSlugs: [] })).toBe(
    "read, write and destructive tools of all apps, for all users",
  );
});

test("a grant that ended with its key says so, and an agent without a name has its id", () => {
  expect(grantStateWord({ active: false }).says).toContain("The key that gave");
  expect(grantStateWord({ active: true })).toMatchObject({ word: "active" });
  expect(agentName({ clientName: "", clientId: "https://agent.example/client.json" })).toBe(
    "https://agent.example/client.json",
  );
});
