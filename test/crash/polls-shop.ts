import type { ToolkitSource } from "@svc/testing/catalog";

/** Returns the definition of an app with one list, at the given address. */
export function shopOf(baseUrl: string): ToolkitSource {
  return {
    toolkit: {
      slug: "shop",
      name: "Shop",
      description: "Orders of a shop of our own, for tests of polls.",
      version: "0.1.0",
      category: "sales",
      baseUrl,
      auth: [{ type: "none" }],
    },
    tools: {
      list_orders: {
        kind: "action",
        class: "read",
        description: "Lists the orders of the shop, one page at a time.",
        intents: ["which orders came", "show the orders", "what was sold"],
        input: {
          type: "object",
          additionalProperties: false,
          properties: { page: { type: "integer", minimum: 1, description: "Number of the page." } },
        },
        output: {
          type: "object",
          properties: { orders: { type: "array", items: { type: "object", properties: { id: { type: "integer" } } } } },
        },
        request: { method: "GET", path: "/orders", query: { page: "{{params.page}}" } },
        paging: { arg: "page", start: 1 },
        poll: { rows: "orders[]", id: "id", cursor: { kind: "seen" } },
      },
    },
  } as unknown as ToolkitSource;
}
