import { expect, test } from "vitest";
import {
  call,
  field,
  partedOf,
  renderAdvice,
  renderText,
  text,
  textOfWire,
  wait,
  waitAs,
  wireParts,
} from "./fault-text.ts";

test("each part is written by the surface, and texts within texts keep theirs", () => {
  const inner = text`set ${field("toolkitSlug")} to ${5}`;
  const whole = text`${call("GetTool")}: ${inner}; ${"plain"}.`;
  expect(whole.text).toBe("GetTool: set toolkitSlug to 5; plain.");
  expect(renderText(whole, (kind, name) => `<${kind} ${name}>`)).toBe(
    "<call GetTool>: set <field toolkitSlug> to 5; plain.",
  );
  expect(textOfWire(whole.text, wireParts(whole))).toEqual(whole);
  expect(textOfWire("a b", [{ kind: 99, start: 0, length: 1 }])).toEqual(partedOf("a b"));
});

test.each([
  [text`Send it again ${wait}, or make a job.`, "5", "Send it again after 5 s, or make a job."],
  [text`Send it again ${waitAs("after the time in Retry-After")}.`, "1", "Send it again after 1 s."],
  [partedOf("Send calls more slowly."), "1", "Send calls more slowly. Retry after 1 s."],
  [partedOf(""), "7", "Retry after 7 s."],
  [text`Send it again ${wait}.`, undefined, "Send it again after the time of Retry-After."],
])("the advice %j with a wait of %s s reads %j", (help, seconds, told) => {
  expect(renderAdvice([help], seconds, (_kind, name) => name)).toBe(told);
});
