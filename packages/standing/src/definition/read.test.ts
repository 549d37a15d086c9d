import { expect, test } from "vitest";
import { readDefinition } from "./read.ts";

test("what lacks a part is told the shape of a definition, with an example and where its schema is", async () => {
  const { faults } = await readDefinition('{"version": 1, "program": {}}', undefined);
  const [{ message, hint } = { message: "", hint: "" }] = faults.list();
  expect(message).toBe("lacks source");
  expect(hint).toMatch(/^add source: it has version, source and program/);
  expect(hint).toContain('such as {"version":1,"source":{"schedule":{"cron":["0 9 * * 1-5"]}},"program":{');
  expect(hint).toMatch(/; \/schemas\/standing\.v1\.json has all of it$/);
});
