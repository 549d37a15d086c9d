import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import {
  CatalogService,
  type ImportOverride,
  ImportOverrideSchema,
  ImportToolkitResponseSchema,
  OpenapiSourceSchema,
} from "@svc/gen/catalog";
import { Code, ConnectError, type ImportReport, type Toolkit } from "@svc/sdk";
import { InvalidArgumentError } from "commander";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { readJsonOption } from "../../command/input.ts";
import { messageText } from "../../text/message.ts";
import { plainText } from "../../text/plain.ts";
import { countText } from "../../text/table.ts";
import { readDocumentFile } from "./join-document.ts";

type ImportValues = {
  readonly source: string;
  readonly server?: string;
  readonly auth?: string;
  readonly idempotencyHeader?: string;
  readonly class?: readonly ClassChoice[];
  readonly overrides?: string;
  readonly show?: "left-out" | "notes" | "suggestions";
};

/**
 * An access class that the user chose for imported tools, and the pattern for the names of these tools. In the pattern, `*` matches any
 * characters.
 */
export type ClassChoice = { readonly class: string; readonly match: string };

/** The option `--trust` of the commands that import: svc then accepts later changes of the source by itself. */
export const trustOption = [
  "--trust",
  "accept later changes without an approver, except milder classes, suspicious texts and a new address",
] as const;

/** The command `svc toolkits import`, which makes a toolkit from an OpenAPI document, with one tool for each operation. */
export const addToolkitImport = command(
  CatalogService.method.importToolkit,
  {
    says: "make a toolkit from an OpenAPI document, one tool for each operation; needs an approver's key",
    takes: { "<source>": "https address of the document, or a file in JSON or YAML; - for standard input" },
    options: [
      ["--slug <slug>", "slug of the toolkit (default: made from the document's title)"],
      ["--category <category>", "category of the toolkit (default: developer-infrastructure)"],
      ["--only <operations>", "import these only: tags, or operations such as 'GET /pets*', with commas between"],
      ["--except <operations>", "leave these out, in the form of --only"],
      [
        "--class <class=tools>",
        "set the class of tools, such as read=search_*,list_*; may be repeated",
        { parse: classes },
      ],
      ["--overrides <file>", "file with names, classes and descriptions of tools as a JSON list; - for standard input"],
      [
        "--server <server>",
        "address for calls, or the number of a server of the document (default: the first https one)",
      ],
      ["--auth <auth>", "bearer, basic, none, header:NAME, query:NAME or path:NAME (default: as the document says)"],
      ["--idempotency-header <name>", "header in which the app takes an idempotency key"],
      ["--replace", "replace a toolkit that has the slug"],
      ["--watch", "read the address again each day, and keep what has changed until an approver accepts it"],
      trustOption,
      ["--dry-run", "read and check the document without storing a toolkit"],
      [
        "--show <what>",
        "list what is left out, all notes, or all suggestions",
        { choices: ["left-out", "notes", "suggestions"] },
      ],
    ],
    more: "\nAn address or a file may have up to 16 MiB in JSON, and 4 MiB in YAML. The command\njoins the local files to which a file refers, from the folder of the document and below.\nThey must end in .json, .yaml or .yml, and none may be hidden.\nFrom an address, it reads only the document itself.",
    examples: [
      "svc toolkits import https://api.example.com/openapi.json --dry-run",
      "svc toolkits import openapi.yaml --slug billing --class 'read=search_*'",
      "svc toolkits import openapi.yaml --overrides overrides.json",
    ],
  },
  async ({ values, context, project, asJson }: Run<ImportValues>, request) => {
    const { source, server = "", auth = "", idempotencyHeader = "", class: choices = [] } = values;
    const isAddress = /^https?:\/\//i.test(source);
    const [url, document] = isAddress ? [source, ""] : ["", await readDocumentFile(source, context)];
    const chosen = values.overrides === undefined ? [] : await readOverrides(values.overrides, context);
    const client = await project();
    const asked = {
      ...request,
      openapi: create(OpenapiSourceSchema, { url, document, server, auth, idempotencyHeader }),
      overrides: [...chosen, ...choices.map((choice) => create(ImportOverrideSchema, choice))],
    };
    const imported = await client.catalog.importToolkit(asked, { timeoutMs: importMs }).catch(explainTimeout);
    if (asJson) return context.print(messageText(ImportToolkitResponseSchema, imported));
    const { toolkit, report } = imported;
    if (toolkit === undefined || report === undefined) return;
    for (const line of reportLines(toolkit, report)) context.print(line);
    for (const line of shownLines(report, values.show)) context.print(line);
    context.note(
      request.dryRun === true
        ? "Nothing is stored. The same command without --dry-run publishes the toolkit."
        : connectText(toolkit),
    );
  },
);

/** Maximum time of an import in milliseconds. The service gives no call more time. */
const importMs = 60_000;

/** Throws a CommandError that says what to do, if an import took too long. Throws any other error unchanged. */
function explainTimeout(error: unknown): never {
  if (!(error instanceof ConnectError) || error.code !== Code.DeadlineExceeded) throw error;
  throw new CommandError(
    `the import took longer than ${importMs / 1000} s: try again when the service has less work, or import a part with --only`,
  );
}

/** Returns the sentence that names the next command after an import: how to connect an account with the toolkit. */
export function connectText({ slug, authSchemes: [first = "", ...others] }: Toolkit): string {
  if (others.length === 0) return `Connect an account with: svc connect ${slug}`;
  return `Connect an account with: svc connect ${slug} --scheme ${first} (or ${others.join(", ")})`;
}

/**
 * Reads an option value such as `read=search_*,list_*`, which gives an access class to the tools with matching names. Adds it to the
 * earlier values of the option. Throws InvalidArgumentError if the text has another form.
 */
export function classes(text: string, before: readonly ClassChoice[] = []): readonly ClassChoice[] {
  const [, access, list = ""] = /^(read|write|destructive)=(.+)$/.exec(text) ?? [];
  if (access === undefined)
    throw new InvalidArgumentError("expected read, write or destructive, = and tools, such as read=search_*,list_*");
  const matches = list.split(",").map((match) => match.trim());
  return [...before, ...matches.filter((match) => match !== "").map((match) => ({ class: access, match }))];
}

/**
 * Reads the choices for imported tools from a file: a JSON list such as `[{"match": "get_*", "class": "read"}]`. Rejects with CommandError
 * if the file has another form.
 */
async function readOverrides(file: string, context: CommandContext): Promise<readonly ImportOverride[]> {
  const text = await readJsonOption("--overrides", `@${file}`, context);
  const list: unknown = JSON.parse(text);
  const form = 'write a list such as [{"match": "get_*", "class": "read", "name": "", "description": ""}]';
  if (!Array.isArray(list)) throw new CommandError(`--overrides ${file} is no JSON list: ${form}`);
  return list.map((item, index) => {
    try {
      return fromJson(ImportOverrideSchema, item as JsonValue);
    } catch (err) {
      const problem = err instanceof Error ? err.message : String(err);
      throw new CommandError(`--overrides ${file} has a wrong entry at [${index}] (${problem}): ${form}`);
    }
  });
}

/** Returns the lines that a command prints about a toolkit (the tools of one app) that was imported. */
export function reportLines(toolkit: Toolkit, report: ImportReport): string[] {
  const { title, version, format, baseUrl, readTools, writeTools, destructiveTools, leftOut, suggestions } = report;
  const count = readTools + writeTools + destructiveTools;
  const notesOf = (kind: string) => report.notes.filter((note) => note.kind === kind);
  const paged = notesOf("paging").length;
  const keyed = notesOf("idempotency").length;
  const extras = [
    ...(paged === 0 ? [] : [`${countText(paged, "list")} with paging`]),
    ...(keyed === 0 ? [] : [`${countText(keyed, "tool")} with an idempotency key`]),
  ];
  const reasons = [...Map.groupBy(leftOut, ({ reason }) => reason)].map(
    ([reason, { length }]) => `${length} ${reason}`,
  );
  const isMcp = format.startsWith("MCP");
  const refused = [...notesOf("refused").slice(0, 5), ...notesOf("override").slice(0, 5)];
  return [
    `${toolkit.slug}  ${plainText(`${title} ${version}`.trim())}, ${plainText(format)}, sent to ${plainText(baseUrl)}`,
    [
      `${count} of ${report.operations} ${isMcp ? "tools" : "operations"}: ${readTools} read, ${writeTools} write, ${destructiveTools} destructive`,
      ...extras,
    ].join("   "),
    `auth      ${toolkit.authSchemes.join(", ")}`,
    ...(report.foreignHost === ""
      ? []
      : [`warning   credentials go to ${plainText(report.foreignHost)}, which is of another domain than the document`]),
    ...(report.openKeys === 0
      ? []
      : [`access    keys and grants without a limit on toolkits, which see the tools at once: ${report.openKeys}`]),
    ...notesOf("auth").map(({ detail }) => `note      ${plainText(detail)}`),
    ...(reasons.length === 0 ? [] : [`left out  ${reasons.join(", ")}`]),
    ...refused.map(({ tool, detail }) => `warning   ${plainText(`${tool}${tool === "" ? "" : ": "}${detail}`)}`),
    ...(isMcp && suggestions.length > 0
      ? [
          `look at   ${countText(suggestions.length, "tool")} that may do less than the server says: ${mildest(suggestions)}`,
        ]
      : []),
    ...(isMcp ? [] : [...suggestionLines(suggestions, "read"), ...suggestionLines(suggestions, "destructive")]),
  ];
}

/** Returns the line that suggests a class for tools of an OpenAPI document; no line if there is no such tool. */
function suggestionLines(suggestions: ImportReport["suggestions"], access: "read" | "destructive"): string[] {
  const tools = suggestions.filter((suggestion) => suggestion.class === access).map(({ tool }) => tool);
  if (tools.length === 0) return [];
  const named = tools.slice(0, 4);
  const more = tools.length === named.length ? "" : `, and ${tools.length - named.length} more (--show suggestions)`;
  const what =
    access === "read"
      ? `${countText(tools.length, "POST")} that may only read`
      : `${countText(tools.length, "GET")} that may delete or cancel something`;
  return [`look at   ${what}: --class ${access}=${named.join(",")}${more}`];
}

/** Returns the options that set the suggested classes, such as `--class write=create_issue`; at most four tools of each class. */
function mildest(suggestions: ImportReport["suggestions"]): string {
  const byClass = Map.groupBy(suggestions, (suggestion) => suggestion.class);
  const options = [...byClass].map(([access, found]) => {
    const more = found.length > 4 ? ",…" : "";
    return `--class ${access}=${found
      .slice(0, 4)
      .map(({ tool }) => tool)
      .join(",")}${more}`;
  });
  return options.join(" ");
}

/** Returns the lines about an import for the option `--show`. */
export function shownLines(report: ImportReport, show: ImportValues["show"]): string[] {
  if (show === "left-out")
    return report.leftOut.map(({ operation, reason, description }) =>
      plainText(`${reason}  ${operation}${description === "" ? "" : `  ${description}`}`),
    );
  if (show === "notes")
    return report.notes.map(({ tool, kind, detail }) => plainText(`${kind}  ${tool || "-"}  ${detail}`));
  if (show === "suggestions") return report.suggestions.map(({ tool, class: access }) => `${access}  ${tool}`);
  return [];
}
