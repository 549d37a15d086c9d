import { expect, test } from "vitest";
import { agentToolsText, confirmText } from "./agent-tools.ts";

test("what is given beside the tools of apps is said, and nothing where nothing is", () => {
  expect(agentToolsText({ agentTools: [] })).toBeUndefined();
  expect(agentToolsText({ agentTools: ["programs", "connect"] })).toBe("Beside the tools of apps: programs, connect.");
});

test("which calls wait for whom is said, and nothing where none do", () => {
  expect(confirmText(undefined)).toBeUndefined();
  expect(confirmText({ person: "never", contact: "" })).toBeUndefined();
  expect(confirmText({ person: "destructive", contact: "ada" })).toBe(
    "Its destructive calls wait until ada confirms them.",
  );
  expect(confirmText({ person: "writes", contact: "ada" })).toBe(
    "Its calls that write or destroy wait until ada confirms them.",
  );
});
