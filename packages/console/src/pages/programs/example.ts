/** The text with which the editor of a new program starts. This example program only reads, and asks people no question. */
export const exampleProgram: string = `{
  "version": 1,
  "title": "Count the open deals",
  "params": { "minValue": 1000.0 },
  "steps": [
    {
      "id": "fetch",
      "call": "sales_crm.list_deals",
      "entity": "ops",
      "args": { "status": "open" },
      "rows": { "from": "data[]", "keep": ["title", "value"] }
    },
    { "id": "large", "filter": "fetch", "where": "row.value >= params.minValue" },
    { "id": "sums", "reduce": "large", "as": { "deals": "count", "worth": "sum value" } }
  ],
  "result": { "deals": { "$ref": "steps.sums.deals" }, "worth": { "$ref": "steps.sums.worth" } }
}
`;
