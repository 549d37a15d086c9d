import { ConnectionsService } from "@svc/gen/connections";
import { ownProjectId } from "../command/client.ts";
import type { Run } from "../command/declared.ts";
import { readSecretOption } from "../command/input.ts";
import { call, topic } from "../command/topic.ts";
import { fillVariables, variableOption } from "../custom/connect/inputs.ts";

type SetValues = { readonly toolkit: string; readonly var: Readonly<Record<string, string>> };

/** The command `svc credentials set`, which stores the client id and secret with which the project itself calls an app. */
const addCredentialSet = call(ConnectionsService.method.setProjectCredential, {
  says: "store the project's own client id and secret of an app; replaces earlier ones",
  takes: { "<toolkit>": ["slug of a toolkit that declares client_credentials", { fills: "toolkitSlug" }] },
  options: [
    ["--client-id <id>", "client id that the app issued to the project", { required: true }],
    ["--secret-stdin", "read the client secret from standard input"],
    ["--secret-env <name>", "read it from this environment variable"],
    variableOption,
  ],
  request: async ({ project, context, values }: Run<SetValues>) => {
    const client = await project();
    const projectId = await ownProjectId(client);
    const { spec } = await client.catalog.getToolkitConnectSpec({ slug: values.toolkit, projectId });
    const accountVariables = spec === undefined ? {} : await fillVariables(values, spec, context);
    return { accountVariables, clientSecret: await readSecretOption("Client secret", values, context) };
  },
  result: "account",
  json: "the account as JSON",
  shows: ({ account }) => account?.id ?? "",
  notes: (_, { values: { toolkit } }) =>
    `The project itself calls ${toolkit} with it: \`svc call ${toolkit}.…\` without --entity.`,
  more: "\nNo option takes the secret itself. At a terminal the command asks for it without showing it.",
  examples: [
    "svc credentials set my_bank --client-id 4711 --secret-stdin < client-secret",
    "svc credentials set my_bank --client-id 4711 --secret-env BANK_SECRET",
  ],
});

/** The commands `svc credentials set|delete`, for the client id and secret with which the project itself calls an app. */
export const addCredentialsCommand = topic({
  says: "set and delete the client id and secret that the project itself uses to call an app",
  examples: [
    "svc credentials set my_bank --client-id 4711 --secret-stdin < client-secret",
    "svc credentials delete my_bank",
  ],
  commands: {
    set: addCredentialSet,
    delete: call(ConnectionsService.method.deleteProjectCredential, {
      says: "erase the project's own credential of an app",
      takes: { "<toolkit>": ["slug of the toolkit", { fills: "toolkitSlug" }] },
      deleted: "toolkitSlug",
      json: "the slug as JSON",
      shows: "the project's own credential of {toolkitSlug} was erased",
      examples: ["svc credentials delete my_bank"],
    }),
  },
});
