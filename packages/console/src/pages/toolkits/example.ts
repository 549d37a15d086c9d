/** The definition that a new toolkit begins with: one app, with one tool that reads. */
export const exampleDefinition: string = `{
  "toolkit": {
    "slug": "shop",
    "name": "Shop",
    "description": "Orders of our own shop, as its back office keeps them.",
    "version": "1.0.0",
    "category": "sales",
    "baseUrl": "https://shop.example.com/api",
    "auth": [
      { "type": "api_key", "placement": "header", "name": "X-Key", "value": "{{credential.key}}" }
    ]
  },
  "tools": {
    "read_order": {
      "kind": "action",
      "class": "read",
      "description": "Reads one order of the shop with its lines and its state of payment.",
      "intents": ["where is my parcel", "what did they buy", "show the purchase"],
      "input": {
        "type": "object",
        "additionalProperties": false,
        "required": ["id"],
        "properties": { "id": { "type": "string", "description": "Id of the order." } }
      },
      "output": {
        "type": "object",
        "properties": { "id": { "type": "string" }, "state": { "type": "string" } }
      },
      "request": { "method": "GET", "path": "/orders/{{params.id}}" }
    }
  }
}
`;
