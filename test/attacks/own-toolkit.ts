/** Returns the definition of a private toolkit with one tool that reads. */
export function ownToolkit(slug: string): string {
  return JSON.stringify({
    toolkit: {
      slug,
      name: "Own",
      description: "An app of our own that is published once more than it may be, for tests.",
      version: "0.1.0",
      category: "scheduling",
      baseUrl: "https://own.example.com",
      auth: [{ type: "api_key", placement: "header", name: "X-Own", value: "{{credential.key}}" }],
    },
    tools: {
      read: {
        kind: "action",
        class: "read",
        description: "Reads something from the app of our own, for tests of quotas.",
        intents: ["read something", "look it up", "what is there"],
        input: {
          type: "object",
          additionalProperties: false,
          properties: { id: { type: "string", description: "Any text." } },
        },
        output: { type: "object", properties: { id: { type: "string" } } },
        request: { method: "GET", path: "/things", query: { id: "{{params.id}}" } },
      },
    },
  });
}
