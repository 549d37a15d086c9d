import { create } from "@bufbuild/protobuf";
import { BindingQuestionSchema, ToolkitBindingSchema } from "@svc/gen/catalog";
import { expect, test } from "vitest";
import { answersOf, bindingOf, fieldOfAnswer, questionsFor, questionWords } from "./binding-answers.ts";

const ask = (path: string, text: string, needed = true) => create(BindingQuestionSchema, { path, ask: text, needed });
const questions = [
  ask("baseUrl", "Address of the app's API, such as https://api.example.com"),
  ask("tokenUrl", "Address from which the app issues tokens (OAuth)"),
  ask("always.headers:version", "Header with the version, such as X-Version: 3", false),
];

test("addresses of OAuth are asked for only if accounts sign in at the app", () => {
  expect(questionsFor(questions, "api_key").map(({ path }) => path)).toEqual(["baseUrl", "always.headers:version"]);
  expect(questionsFor(questions, "oauth2")).toEqual(questions);
});

test("answers fill their fields, empty ones are left out, and an overlay that was stored before stays", () => {
  const answers = { baseUrl: " https://a.example ", tokenUrl: " ", "always.headers:version": "X-V: 1", other: "x" };
  const binding = bindingOf(questions, answers, '{"tools":{}}');
  const values = { "always.headers:version": "X-V: 1" };
  expect(binding).toEqual({ baseUrl: "https://a.example", values, overlayJson: '{"tools":{}}' });
  const stored = create(ToolkitBindingSchema, binding);
  expect(answersOf(stored)).toEqual({ baseUrl: "https://a.example", ...values });
});

test("an error of an answer has the field that the service names", () => {
  expect(fieldOfAnswer("baseUrl")).toBe("shared.binding.baseUrl");
  expect(fieldOfAnswer("auth[0].name")).toBe('shared.binding.values["auth[0].name"]');
});

test("a question is a label, and its example is the hint", () => {
  expect(questions.map(questionWords)).toEqual([
    { label: "Address of the app's API", hint: "Such as https://api.example.com. Calls and credentials go there." },
    { label: "Address from which the app issues tokens (OAuth)", hint: "Copy it from the app." },
    { label: "Header with the version", hint: "Such as X-Version: 3. Leave it empty if the app has none." },
  ]);
});
