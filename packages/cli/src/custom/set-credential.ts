import { ConnectedAccountSchema, ConnectionsService } from "@svc/gen/connections";
import { ownProjectId, type ProjectOptions } from "../command/client.ts";
import { command, type Run } from "../command/declared.ts";
import { collectPair, type JsonOption } from "../command/options.ts";
import { readSecret } from "../command/secret.ts";
import { messageText } from "../text/message.ts";
import { fillVariables } from "./connect/inputs.ts";

type SetOptions = ProjectOptions &
  JsonOption & {
    clientId: string;
    secretStdin?: true;
    secretEnv?: string;
    var: Readonly<Record<string, string>>;
  };

/** Adds `svc credentials set`. */
export const addCredentialSet = command(
  ConnectionsService.method.setProjectCredential,
  {
    says: "keep the project's own client id and secret of an app, in place of earlier ones",
    takes: { "<toolkit>": "slug of a toolkit that declares client_credentials" },
    options: [
      ["--client-id <id>", "client id that the app gave the project", { required: true }],
      ["--secret-stdin", "read the client secret from standard input"],
      ["--secret-env <name>", "read it from this environment variable"],
      [
        "--var <name=value>",
        "what the toolkit wants filled in, such as a host name; as often as needed",
        { default: {}, defaultText: "asked for at a terminal", parse: collectPair },
      ],
    ],
    json: "the account as JSON",
    more: "\nNo option takes the secret itself. At a terminal it is asked for and not shown.",
    examples: [
      "svc credentials set my_bank --client-id 4711 --secret-stdin < client-secret",
      "svc credentials set my_bank --client-id 4711 --secret-env BANK_SECRET",
    ],
  },
  async ({ values: options, context, project, asJson }: Run<SetOptions & { readonly toolkit: string }>) => {
    const { toolkit: toolkitSlug } = options;
    const client = await project();
    const projectId = await ownProjectId(client);
    const { spec } = await client.catalog.getToolkitConnectSpec({ slug: toolkitSlug, projectId });
    if (spec === undefined) return;
    const accountVariables = await fillVariables(options, spec, context);
    const source = { fromInput: options.secretStdin, variable: options.secretEnv, option: "--secret-env" };
    const clientSecret = await readSecret("Client secret", source, context);
    const request = { toolkitSlug, clientId: options.clientId, clientSecret, accountVariables };
    const { account } = await client.connections.setProjectCredential(request);
    if (account === undefined) return;
    context.print(asJson ? messageText(ConnectedAccountSchema, account) : account.id);
    context.note(`The project itself calls ${toolkitSlug} with it: \`svc call ${toolkitSlug}.…\` without --entity.`);
  },
);
