import type { Binding } from "@svc/core";
import { expect, test } from "vitest";
import type { McpContext } from "../mcp/offer.ts";
import type { AgentToolsOptions } from "./meta-caller.ts";
import { createToolsOffer } from "./offer.ts";

/** Returns the names of the meta-tools that are listed for a key that is scoped to these access classes. The catalog is not read. */
async function listed(...accessClasses: Binding["accessClasses"]): Promise<string[]> {
  const { methods } = createToolsOffer({} as AgentToolsOptions);
  const binding = { entityId: "", toolkitSlugs: [], accessClasses };
  const address = { toolkits: [], tools: [], entityId: "" };
  const context = { principal: { binding }, address, scopesOf: () => [] } as unknown as McpContext;
  const outcome = await methods["tools/list"]?.answer({}, context);
  if (outcome?.type !== "complete") throw new Error("nothing is listed");
  return (outcome.result["tools"] as { name: string }[]).map(({ name }) => name);
}

test("a key sees only the meta-tools that can call something for it", async () => {
  const both = ["search_tools", "describe_tool", "read_tool", "call_tool"];
  expect(await listed()).toEqual(both);
  expect(await listed("read", "write")).toEqual(both);
  expect(await listed("read")).toEqual(["search_tools", "describe_tool", "read_tool"]);
  expect(await listed("write", "destructive")).toEqual(["search_tools", "describe_tool", "call_tool"]);
});
