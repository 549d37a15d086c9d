import { createProject } from "@svc/db/projects/repo";
import { createTestDatabase } from "@svc/testing/database";
import { longestTurnMs, processorBudgetMs } from "@svc/testing/processor";
import { afterAll, expect, test } from "vitest";
import { createTestNode } from "../test-client.ts";
import { privateDefinition } from "./test-definitions.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
const { id: projectId } = await createProject(db, "heavy", 1);
const client = createTestNode(db).clientOf(projectId);

const named = (count: number, schema: object) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, schema]));
const text = { type: "string", description: "A text." };
const inputOf = (a: object) => ({
  tool: {
    input: { type: "object", additionalProperties: false, properties: { id: text, a: { ...a, description: "An a." } } },
  },
});

const definitions: readonly (readonly [what: string, definition: string])[] = [
  ["a schema of 700 properties", privateDefinition(inputOf({ type: "object", properties: named(700, text) }))],
  ["a choice of 700 forms", privateDefinition(inputOf({ anyOf: Object.values(named(700, { type: "string" })) }))],
  [
    "a schema that is too large",
    privateDefinition(inputOf({ allOf: Object.values(named(3_500, { type: "string" })) })),
  ],
  ["a toolkit with 6,000 unknown names", privateDefinition({ toolkit: named(6_000, {}) })],
  ["a tool with 6,000 unknown names", privateDefinition({ tool: named(6_000, {}) })],
];

test.each(definitions)("PublishToolkit does not hold the event loop for %s", async (_what, definitionJson) => {
  const publish = () => client.publishToolkit({ definitionJson, dryRun: true }).catch(() => {});
  await publish();
  const enough = processorBudgetMs(10);
  expect(await longestTurnMs(publish, enough)).toBeLessThan(enough);
});
