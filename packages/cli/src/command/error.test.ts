import { expect, test } from "vitest";
import "../program.ts";
import { commandOf, optionOf, withCommands } from "./api-names.ts";

test.each([
  ['PutSecret {"name": "crm"}', "", "`svc secrets put crm`"],
  ['SetProjectPolicy {"http": {"hosts": ["a.example"]}}', "", "`svc projects policy <project> --http-host a.example`"],
  ["SetProjectPolicy", "QUOTA_JOBS", "`svc projects quotas`"],
  ["ListTools with kind TOOL_KIND_TRIGGER", "", "`svc toolkits show <toolkit>`"],
])("a call as a refusal names it, %s of %s, is the command %s", (named, reason, command) => {
  expect(commandOf(named, reason)).toBe(command);
});

test.each([
  ["toolkitSlug", "--toolkit"],
  ["accountVariables.host", "--var host"],
  ["redirectUrls[1]", "--redirect-url[1]"],
  ["limit.rate.max", "the calls of --rate"],
  ["confirm.person", "--confirm"],
  ["contact.reach.toolSlug", "contact.reach.toolSlug"],
  ["steps", "steps"],
])("the field %s is shown as %s", (path, option) => {
  expect(optionOf(path)).toBe(option);
});

test("words that every object has as properties, and what only looks like an example of a request, stay as they are", () => {
  for (const word of ["constructor", "toString", "hasOwnProperty", "__proto__"]) {
    expect(commandOf(word)).toBe(word);
    expect(optionOf(word)).toBe(word);
    expect(optionOf(`${word}[0].a`)).toBe(`${word}[0].a`);
    expect(withCommands(`has no such field "${word}"`)).toBe(`has no such field "${word}"`);
  }
  for (const example of ["PutSecret {x}", "SetProjectPolicy {}", "PutSecret {name}", "constructor {}"])
    expect(() => withCommands(`see ${example} there`)).not.toThrow();
  expect(withCommands("see PutSecret {x} there")).toBe("see PutSecret {x} there");
});
