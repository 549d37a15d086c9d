import type { ToolkitSource } from "@svc/testing/catalog";

type Changes = { readonly slug?: string; readonly toolkit?: object; readonly tool?: object; readonly input?: object };

/** Returns a definition with one tool that a project may publish. It is plain JSON that a test may change or damage. */
export function privateSource({ slug = "shop", toolkit, tool, input }: Changes = {}) {
  return {
    toolkit: {
      slug,
      name: "Shop",
      description: "Orders of a shop of our own, for tests of private definitions.",
      version: "0.1.0",
      category: "sales",
      baseUrl: "https://shop.example.com/api",
      auth: [{ type: "api_key", placement: "header", name: "X-Key", value: "{{credential.key}}" }],
      ...toolkit,
    },
    tools: {
      read_order: {
        kind: "action",
        class: "read",
        description: "Reads one order of the shop with its lines and its state of payment.",
        intents: ["where is my parcel", "what did they buy", "show the purchase"],
        input: input ?? {
          type: "object",
          additionalProperties: false,
          required: ["id"],
          properties: { id: { type: "string", description: "Id of the order." } },
        },
        output: { type: "object", properties: { id: { type: "string" }, state: { type: "string" } } },
        request: { method: "GET", path: "/orders/{{params.id}}" },
        ...tool,
      },
    },
  };
}

/**
 * Returns the definition of the test toolkit (an app's tools and webhooks) that `privateSource` creates, as JSON text in the form that
 * PublishToolkit accepts.
 */
export function privateDefinition(changes: Changes = {}): string {
  return JSON.stringify(privateSource(changes));
}

/**
 * Returns the definition of the toolkit (an app for tests) that `privateSource` creates, in the form of the shared catalog, where a
 * definition consists of files.
 */
export function sharedSource(changes: Changes = {}): ToolkitSource {
  return privateSource(changes) as unknown as ToolkitSource;
}
