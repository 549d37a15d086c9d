/** Returns an OpenAPI document of an invented shop, as an object that a test may change. */
export function shopDocument() {
  const list = {
    type: "object",
    properties: {
      data: { type: "array", items: { $ref: "#/components/schemas/Order" } },
      has_more: { type: "boolean" },
    },
  };
  const json = (schema: object) => ({ content: { "application/json": { schema } } });
  const order = { 200: { description: "The order.", ...json({ $ref: "#/components/schemas/Order" }) } };
  return {
    openapi: "3.0.3",
    info: {
      title: "Corner Shop API",
      version: "2.1.0",
      description: "Orders, customers and refunds of a small corner shop.",
    },
    servers: [
      { url: "http://shop.example.com" },
      { url: "https://{region}.shop.example.com/v2/", variables: { region: { default: "eu", enum: ["eu", "us"] } } },
    ],
    security: [{ key: [] }],
    paths: {
      "/orders": {
        get: {
          operationId: "listOrders",
          tags: ["orders"],
          summary: "List orders",
          description: "Lists the orders of the shop, the newest first.",
          parameters: [
            { name: "starting_after", in: "query", schema: { type: "string" } },
            { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 100, default: 10 } },
            {
              name: "created",
              in: "query",
              style: "deepObject",
              schema: { anyOf: [{ type: "object", properties: { gte: { type: "integer" } } }, { type: "integer" }] },
            },
            { name: "status", in: "query", explode: false, schema: { type: "array", items: { type: "string" } } },
          ],
          responses: { 200: { description: "A page.", ...json(list) } },
        },
        post: {
          operationId: "createOrder",
          tags: ["orders"],
          summary: "Create an order",
          parameters: [{ name: "Idempotency-Key", in: "header", schema: { type: "string" } }],
          requestBody: {
            required: true,
            content: { "application/x-www-form-urlencoded": { schema: { $ref: "#/components/schemas/NewOrder" } } },
          },
          responses: order,
        },
      },
      "/orders/{id}": {
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        get: { operationId: "getOrder", tags: ["orders"], summary: "Get an order", responses: order },
        delete: {
          operationId: "deleteOrder",
          tags: ["orders"],
          summary: "Delete an order",
          responses: { 204: { description: "Gone." } },
        },
      },
      "/orders/{id}/cancel": { post: { summary: "Stop an order", responses: order } },
      "/orders/search": {
        post: {
          operationId: "searchOrders",
          summary: "Search orders",
          requestBody: json({ type: "object", properties: { q: { type: "string" } } }),
          responses: { 200: json({ type: "array", items: { type: "object" } }) },
        },
      },
      "/report": {
        get: {
          operationId: "report",
          summary: "Sales of the day as a table",
          responses: { 200: { content: { "text/csv": {} } } },
        },
      },
      "/photo": {
        put: {
          operationId: "putPhoto",
          summary: "Upload",
          requestBody: { content: { "multipart/form-data": {} } },
          responses: {},
        },
      },
      "/old": { get: { operationId: "old", deprecated: true, responses: {} } },
      "/else": {
        get: { operationId: "elsewhere", responses: { 200: json({ $ref: "https://other.example.com/x.json#/A" }) } },
      },
    } as Record<string, Record<string, unknown>>,
    components: {
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      schemas: {
        Order: {
          type: "object",
          properties: {
            id: { type: "string" },
            total: { type: "integer" },
            note: { type: "string", nullable: true },
            parent: { $ref: "#/components/schemas/Order" },
          },
        },
        NewOrder: {
          type: "object",
          required: ["lines"],
          properties: {
            id: { type: "string", readOnly: true },
            lines: {
              type: "array",
              description: "What is ordered.",
              items: {
                type: "object",
                required: ["sku"],
                properties: { sku: { type: "string" }, count: { type: "integer" } },
              },
            },
            pin: { type: "string", format: "password" },
          },
        },
      } as Record<string, object>,
    },
  };
}
