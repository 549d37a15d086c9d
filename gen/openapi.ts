/** The OpenAPI document of the calls of svc.v1, as a JSON file. */
export const openapiFile: URL = new URL("src/openapi.json", import.meta.url);
