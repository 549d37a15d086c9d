import { TriggersService } from "@svc/gen/triggers";
import { type ServerOptions, serverUrl } from "../command/client.ts";
import type { Run } from "../command/declared.ts";
import { list } from "../command/topic.ts";
import { tableLines } from "../text/table.ts";

/** `svc endpoints`. */
export const addEndpointsCommand = list(TriggersService.method.listIngestEndpoints, {
  says: "list where providers post events to, and which of those the deployment holds a secret for",
  rows: "endpoints",
  table: (endpoints, { values, context }: Run<ServerOptions>) => {
    if (endpoints.some(({ secretSet }) => !secretSet))
      context.note("Posts to a path whose secret is not set are refused: set its variable for the server.");
    const base = serverUrl(values, context);
    const rows = endpoints.map(({ toolkitSlug, path, scheme, secretEnv, secretSet }) => {
      return [toolkitSlug, scheme, secretEnv, secretSet ? "yes" : "no", `${base}${path}`];
    });
    return tableLines(["TOOLKIT", "SCHEME", "SECRET", "SET", "URL"], rows);
  },
  json: "the inbound paths as a JSON list",
  examples: ["svc endpoints", "svc endpoints --json | jq '.[] | select(.secretSet | not)'"],
});
