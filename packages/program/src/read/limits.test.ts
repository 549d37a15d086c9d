import { expect, test } from "vitest";
import { withOldForms } from "./limits.ts";
import { parseCheckedProgram } from "./program.ts";

const call = (args: object, more: object = {}) => ({
  id: "note",
  call: "desk.send_note",
  entity: "ops",
  args,
  ...more,
});
const programOf = (...steps: object[]) => JSON.stringify({ version: 1, title: "Old", steps });

/** Returns the kind of template as which the arguments of a program's first step are read. */
function argumentsOf(programJson: string) {
  const [step] = parseCheckedProgram(programJson).steps;
  return step?.kind === "call" ? step.args : undefined;
}

test("what version 0.1 took as it stands is taken so still, whatever it says since", () => {
  for (const form of [
    { $cel: "1 + 1" },
    { $literal: "x" },
    { $secret: "token" },
    { $cel: 5, more: [9007199254740993n.toString()] },
  ]) {
    const text = programOf(call({ text: { deep: [form] } }));
    expect(JSON.stringify(argumentsOf(withOldForms(text)))).toContain(JSON.stringify(form));
    expect(JSON.stringify(argumentsOf(withOldForms(text)))).not.toContain('"computed"');
  }
});

test("references beside it are references still, in branches, maps and undo calls as well", () => {
  const args = { text: { $ref: "input.text" }, tag: { $cel: "now" } };
  const undo = { call: "desk.delete_note", args: { id: { $ref: "output.id" }, why: { $secret: "x" } } };
  const inner = call(args, { undo });
  // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
  const text = programOf({ id: "any", if: "true", then: [inner], else: [{ id: "each", map: "rows", do: [inner] }] });
  const changed = { ...args, tag: { $literal: args.tag } };
  const undone = { ...undo, args: { ...undo.args, why: { $literal: { $secret: "x" } } } };
  const [step] = JSON.parse(withOldForms(text)).steps;
  expect(step.then[0]).toMatchObject({ args: changed, undo: undone });
  expect(step.else[0].do[0]).toMatchObject({ args: changed, undo: undone });
});

test("any other text is left as it is, digits and spaces too", () => {
  const text = '{ "version": 1, "steps": [ {"id": "a", "args": {"n": 9007199254740993}} ] }';
  expect(withOldForms(text)).toBe(text);
  expect(withOldForms(text.replace('"n"', '"$literal"'))).toContain('{"$literal":{"$literal":9007199254740993}}');
});
