import { ConnectionsService, type ToolkitClient } from "@svc/gen/connections";
import { readSecretOption } from "../../command/input.ts";
import { call, topic } from "../../command/topic.ts";
import { plainText } from "../../text/plain.ts";
import { factLines } from "../../text/table.ts";

/** The command `svc toolkits client set`, which stores the OAuth client that the project has registered at an issuer. */
const addClientSet = call(ConnectionsService.method.putToolkitClient, {
  says: "store the project's own OAuth client for a private toolkit; needs an approver's key",
  takes: { "<toolkit>": ["slug of the private toolkit", { fills: "toolkitSlug" }] },
  options: [
    ["--client-id <id>", "client id that the issuer gave the project; may be left out with --dry-run"],
    ["--secret-stdin", "read the client secret from standard input"],
    ["--secret-env <name>", "read it from this environment variable"],
    ["--issuer <url>", "issuer of the client (default: the issuer that the toolkit names); needed before the import"],
    ["--dry-run", "only show the issuer and the redirect address to register there"],
  ],
  request: async ({ project, context, values }) => {
    await project();
    if (values["dryRun"] === true) return {};
    return { clientSecret: await readSecretOption("Client secret, empty if there is none", values, context) };
  },
  shows: ({ client, redirectUrl }) => clientLines(client, redirectUrl),
  notes: (_, { request: { dryRun } }) =>
    dryRun === true
      ? "Nothing is stored. Register a client with this redirect address, then give its --client-id."
      : "The redirect address must be registered at the issuer.",
  more: "\nNo option takes the secret itself. At a terminal the command asks for it without showing it.\nsvc never shows it again.",
  examples: [
    "svc toolkits client set tracker --dry-run",
    "svc toolkits client set tracker --client-id 4711 --secret-stdin < client-secret",
    "svc toolkits client set tracker --issuer https://login.example.com --client-id 4711 --secret-env TRACKER_SECRET",
  ],
});

function clientLines(client: ToolkitClient | undefined, redirectUrl: string): readonly string[] {
  if (client === undefined) return [];
  const { toolkitSlug, issuer, clientId, hasSecret } = client;
  return factLines([
    ["toolkit", toolkitSlug],
    ["issuer", plainText(issuer)],
    ["client id", clientId === "" ? "-" : plainText(clientId)],
    ["secret", hasSecret ? "sealed" : "none"],
    ["redirect address", redirectUrl],
  ]);
}

/** The commands `svc toolkits client set|delete`, for the OAuth clients that a project has for its private toolkits. */
export const addToolkitClient = topic({
  says: "store and delete the project's own OAuth client for a private toolkit",
  examples: [
    "svc toolkits client set tracker --client-id 4711 --secret-stdin < client-secret",
    "svc toolkits client delete tracker",
  ],
  commands: {
    set: addClientSet,
    delete: call(ConnectionsService.method.deleteToolkitClient, {
      says: "delete the project's OAuth client for a toolkit; tokens of its accounts are no longer renewed",
      takes: { "<toolkit>": ["slug of the private toolkit", { fills: "toolkitSlug" }] },
      options: [["--dry-run", "only show the client that would be deleted"]],
      deleted: "toolkitSlug",
      json: "the slug as JSON; with --dry-run, the client",
      shows: ({ client }, { request: { toolkitSlug, dryRun } }) =>
        dryRun === true ? clientLines(client, "") : `the OAuth client for ${toolkitSlug} is deleted`,
      notes: (_, { request: { dryRun } }) => (dryRun === true ? "Nothing is deleted." : []),
      examples: ["svc toolkits client delete tracker", "svc toolkits client delete tracker --dry-run"],
    }),
  },
});
