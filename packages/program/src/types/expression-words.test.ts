import { expect, test } from "vitest";
import { isFunction } from "./cel-kinds.ts";
import { expressionWords } from "./expression-words.ts";

const words = expressionWords();
const shown = (name: string) => words.filter((word) => word.name === name).map(({ signature }) => signature);

test("every function, operator and variable has a signature and one line of text", () => {
  const bare = words.filter(({ signature, summary }) => signature === "" || !/^[A-Z].{5,90}[.]$/.test(summary));
  expect(bare).toEqual([]);
  expect(words.filter(({ name }) => isFunction(name)).length).toBeGreaterThan(50);
});

test("a signature names the types of the values and of the result", () => {
  expect(shown("startsWith")).toEqual(["string.startsWith(string): bool"]);
  expect(shown("size")).toEqual(["size(list|map|string|bytes): int", "list|map|string|bytes.size(): int"]);
  expect(shown("reverse")).toEqual(["list.reverse(): list or string.reverse(): string"]);
  expect(shown("sum")).toEqual(["list.sum(): any"]);
  expect(shown("now")).toEqual(["timestamp"]);
});
