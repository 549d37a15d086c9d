import { expect, test } from "vitest";
import { answerOf } from "./read-result.ts";

const resultOf = (text: string) =>
  answerOf({ value: { id: 1, result: { content: [{ type: "text", text }] } }, text: "" }, "read");

test("a text of more than 1 MiB is not also passed on as data", () => {
  const listOf = (length: number) => `["${"x".repeat(length - 4)}"]`;
  const bodyOf = (text: string) => {
    const answer = resultOf(text);
    return answer.kind === "answer" ? (JSON.parse(String(answer.body)) as { result: object }).result : answer;
  };
  expect(Object.keys(bodyOf(listOf(1_048_576)))).toEqual(["text", "data"]);
  expect(Object.keys(bodyOf(listOf(1_048_577)))).toEqual(["text"]);
});

test("a result that is larger than 8 MiB as JSON is too large", () => {
  expect(resultOf("x".repeat(4_000_000))).toMatchObject({ kind: "answer" });
  expect(resultOf('"'.repeat(5_000_000))).toEqual({ kind: "too_large", status: 200 });
});
