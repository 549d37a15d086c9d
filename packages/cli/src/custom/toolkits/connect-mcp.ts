import { create } from "@bufbuild/protobuf";
import {
  ImportOverrideSchema,
  ImportToolkitRequestSchema,
  type ImportToolkitResponse,
  ImportToolkitResponseSchema,
  McpSourceSchema,
} from "@svc/gen/catalog";
import type { SvcClient } from "@svc/sdk";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { messageText } from "../../text/message.ts";
import { type ConnectInputs, readCredential } from "../connect/inputs.ts";
import { type ClassChoice, classes, connectText, reportLines, shownLines, trustOption } from "./import.ts";

type ConnectMcpValues = ConnectInputs & {
  readonly url: string;
  readonly slug?: string;
  readonly category?: string;
  readonly header?: string;
  readonly entity?: string;
  readonly class?: readonly ClassChoice[];
  readonly replace?: true;
  readonly trust?: true;
  readonly dryRun?: true;
  readonly show?: "left-out" | "notes" | "suggestions";
};

/** The command `svc toolkits connect-mcp`, which makes a toolkit from an MCP server, with one tool for each tool of the server. */
export const addConnectMcp = command(
  undefined,
  {
    says: "make a toolkit from an MCP server, one tool for each of its tools; needs an approver's key",
    takes: { "<url>": "https address to which MCP messages are posted" },
    client: "project",
    options: [
      ["--slug <slug>", "slug of the toolkit (default: made from the server's name)"],
      ["--category <category>", "category of the toolkit (default: developer-infrastructure)"],
      ["--header <name>", "header that carries an account's key; with Authorization, the key is a bearer token"],
      ["--entity <id>", "owner of the account that lists the tools, if the server wants a key"],
      ["--key-stdin", "read the key of this account from standard input"],
      ["--key-env <name>", "read it from this environment variable"],
      [
        "--class <class=tools>",
        "set the class of tools, such as write=create_*,update_*; may be repeated",
        { parse: classes },
      ],
      ["--replace", "replace a toolkit that has the slug"],
      trustOption,
      ["--dry-run", "list and check the tools without storing a toolkit"],
      [
        "--show <what>",
        "list what is left out, all notes, or all suggestions",
        { choices: ["left-out", "notes", "suggestions"] },
      ],
    ],
    json: "the answer of the import as JSON",
    more: "\nsvc speaks Streamable HTTP with servers of MCP 2025-11-25 and 2026-07-28. A tool is read or write if the server says so, and\notherwise destructive; --class sets another class. A server that runs as a command needs a bridge from stdio to HTTP.",
    examples: [
      "svc toolkits connect-mcp https://mcp.example.com/mcp --dry-run",
      "svc toolkits connect-mcp https://mcp.example.com/mcp --class 'write=create_*,update_*'",
      "svc toolkits connect-mcp https://mcp.example.com/mcp --slug tracker --header X-Api-Key --entity ops --key-env TRACKER_KEY",
    ],
  },
  async ({ values, context, project, asJson }: Run<ConnectMcpValues>) => {
    const client = await project();
    const imported = await importTools(client, values, context);
    if (asJson) return context.print(messageText(ImportToolkitResponseSchema, imported));
    const { toolkit, report } = imported;
    if (toolkit === undefined || report === undefined) return;
    for (const line of reportLines(toolkit, report)) context.print(line);
    for (const line of shownLines(report, values.show)) context.print(line);
    if (values.dryRun === true)
      context.note("Nothing is stored. The same command without --dry-run publishes the toolkit.");
    else if (report.operations === 0 && !toolkit.authSchemes.includes("none"))
      context.note(
        `The server lists its tools only to an account. Connect one and import again: svc connect ${toolkit.slug} --entity <id>, then this command with --slug ${toolkit.slug} --replace.`,
      );
    else context.note(connectText(toolkit));
  },
);

/**
 * Imports the server's tools. If it lists them only to an account and the user named an entity, connects an account of this entity first.
 */
async function importTools(
  client: SvcClient,
  values: ConnectMcpValues,
  context: CommandContext,
): Promise<ImportToolkitResponse> {
  const { url, header = "", slug = "", category = "", class: choices = [] } = values;
  const { replace = false, trust = false, dryRun = false } = values;
  const request = create(ImportToolkitRequestSchema, {
    ...{ slug, category, replace, trust, dryRun },
    mcp: create(McpSourceSchema, { url, header }),
    overrides: choices.map((choice) => create(ImportOverrideSchema, choice)),
  });
  const first = await client.catalog.importToolkit(request);
  const made = first.toolkit?.slug ?? "";
  if (dryRun || header === "" || values.entity === undefined || first.report?.operations !== 0) return first;
  const credential = await readCredential("api_key", values, context);
  const toolkitSlug = made;
  const { account } = await client.connections.initiateConnection({
    toolkitSlug,
    entityId: values.entity,
    ...credential,
  });
  const mcp = create(McpSourceSchema, { url, header, listingAccountId: account?.id ?? "" });
  return client.catalog.importToolkit({ ...request, mcp, slug: made, replace: true });
}
