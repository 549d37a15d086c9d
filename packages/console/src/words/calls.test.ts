import { expect, test } from "vitest";
import { accountStates, accountWord, schemeWords } from "./accounts.ts";
import { accessClasses, callOutcomes, classWord, failureCodeWords, outcomeWord } from "./calls.ts";

test("every outcome, class and state has the API's own word and a sentence", () => {
  for (const outcome of callOutcomes) expect(outcomeWord(outcome)).toMatchObject({ word: outcome });
  for (const accessClass of accessClasses) expect(classWord(accessClass)).toMatchObject({ word: accessClass });
  for (const state of accountStates) expect(accountWord(state)).toMatchObject({ word: state });
  expect(accountWord("active").says).not.toBe("");
});

test("the code of a failure is said in words", () => {
  expect(failureCodeWords("provider_error")).toBe("App error");
  expect(failureCodeWords("LIMIT_REACHED")).toBe("Limit reached");
});

test("what a newer service says is shown as it is", () => {
  expect(outcomeWord("postponed")).toMatchObject({ word: "postponed", tone: "plain" });
  expect(schemeWords("device")).toBe("device");
});
