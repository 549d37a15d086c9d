import { create } from "@bufbuild/protobuf";
import { CatalogService, ImportOverrideSchema, type ToolkitChanges, type ToolkitSource } from "@svc/gen/catalog";
import type { CommandContext } from "../../command/context.ts";
import { CommandError } from "../../command/error.ts";
import { call } from "../../command/topic.ts";
import { plainText } from "../../text/plain.ts";
import { countText, factLines, tableLines, timeText } from "../../text/table.ts";
import { type ClassChoice, classes } from "./import.ts";
import { readDocumentFile } from "./join-document.ts";

const slug = { "<slug>": "slug of the toolkit" } as const;

/** The command `svc toolkits refresh`, which reads the source of a toolkit again and shows what has changed. */
export const addToolkitRefresh = call(CatalogService.method.refreshToolkit, {
  says: "read the document of an imported toolkit again, and show what has changed; needs an approver's key",
  takes: { ...slug, "[file]": "newer document as a file; - for standard input (default: read from its address)" },
  options: [
    [
      "--account <id>",
      "list the tools of its MCP server with this account, now and later",
      { fills: "listingAccountId" },
    ],
    ["--dry-run", "show the changes without storing them"],
  ],
  request: async ({ values: { file }, context }) =>
    typeof file === "string" ? { document: await readDocumentFile(file, context) } : {},
  shows: ({ changes, accepted }, { request: { dryRun } }) => {
    if (accepted === undefined) return changeLines(changes);
    const text = `svc ${dryRun === true ? "would accept" : "has accepted"} these changes by itself, because the source is trusted`;
    return [...changeLines(accepted), text, ...(changes === undefined ? [] : changeLines(changes))];
  },
  notes: ({ changes }, { request: { slug: named = "", dryRun } }) =>
    changes === undefined ? [] : [dryRun === true ? "The changes are not stored." : acceptText(named, changes)],
  examples: [
    "svc toolkits refresh billing",
    "svc toolkits refresh billing openapi.yaml",
    "svc toolkits refresh tracker --account acc_01jz8q3v7k2m5n9p4r6s8t0w1x",
  ],
});

/** The command `svc toolkits changes`, which shows the changes of a toolkit that wait for an approver. */
export const addToolkitChanges = call(CatalogService.method.getToolkitSource, {
  says: "show the changes of an imported toolkit that wait until an approver accepts them",
  takes: slug,
  shows: ({ changes }) => changeLines(changes),
  notes: ({ changes }, { request: { slug: named = "" } }) => (changes === undefined ? [] : acceptText(named, changes)),
  examples: ["svc toolkits changes billing"],
});

/** The command `svc toolkits source`, which shows the source of a toolkit. */
export const addToolkitSource = call(CatalogService.method.getToolkitSource, {
  says: "show the document from which a toolkit was imported, and when it was last read",
  takes: slug,
  result: "source",
  shows: ({ source, changes }) =>
    factLines([
      ["kind", source?.kind ?? ""],
      ["address", plainText(source?.origin || "none: the text was sent")],
      ["last read", timeText(source?.refreshedAt)],
      ["next read", nextReadText(source)],
      ...(source?.kind === "mcp" ? ([["listed with", source.listingAccountId || listedByFirst]] as const) : []),
      ...(source?.lastError ? ([["failed", plainText(source.lastError)]] as const) : []),
      ...acceptedRows(source),
      ["changes", changes === undefined ? "none" : String(changes.count)],
    ]),
  examples: ["svc toolkits source billing"],
});

const listedByFirst = "the first active account, if the server needs one";

function acceptedRows(source: ToolkitSource | undefined): readonly (readonly [string, string])[] {
  if (source === undefined || source.kind === "shared") return [];
  return [["accepted by", source.trust ? "svc itself, except changes that need an approver" : "an approver"]];
}

function nextReadText(source: ToolkitSource | undefined): string {
  if (source?.kind === "shared") return "never: it follows the shared toolkit";
  return source?.nextRefreshAt === undefined ? "when you call svc toolkits refresh" : timeText(source.nextRefreshAt);
}

/** The command `svc toolkits accept`, which applies changes of the source to a toolkit. */
export const addToolkitAccept = call(CatalogService.method.acceptToolkitChanges, {
  says: "apply changes of its document to an imported toolkit; needs an approver's key",
  takes: {
    ...slug,
    "[tools...]": ["tools whose changes are accepted (default: all except suspicious ones)", { fills: "toolNames" }],
  },
  options: [
    [
      "--digest <digest>",
      "accept the changes with this digest, or with its first 12 characters or more (default: asked at a terminal)",
    ],
    [
      "--class <class=tools>",
      "set the class of tools, now and at later reads, such as write=create_*; may be repeated",
      { parse: classes },
    ],
    ["--origin", "accept a new address or authentication also; accounts must then be connected again"],
    ["--dry-run", "check the result without storing it"],
  ],
  request: async ({ project, values, context }) => {
    const [named, begin] = [String(values["slug"]), values["digest"]];
    const choices = (values["class"] ?? []) as readonly ClassChoice[];
    const overrides = choices.map((choice) => create(ImportOverrideSchema, choice));
    const { changes } = await (await project()).catalog.getToolkitSource({ slug: named });
    if (changes === undefined)
      throw new CommandError(`${named} has no changes that wait: svc toolkits refresh reads its document again`);
    if (begin === undefined) {
      if (values["dryRun"] !== true) await confirmChanges(named, changes, context);
      return { digest: changes.digest, overrides };
    }
    // A whole digest is sent as it is, so that the service refuses it if other changes wait now.
    if (String(begin).length >= 64) return { overrides };
    if (String(begin).length < digestShown)
      throw new CommandError(`--digest ${String(begin)} is too short: write at least ${digestShown} characters`, 2);
    if (changes.digest.startsWith(String(begin))) return { digest: changes.digest, overrides };
    throw new CommandError(
      `other changes of ${named} wait than those with the digest ${String(begin)}: svc toolkits changes shows them`,
    );
  },
  shows: ({ changes }, { request: { slug: named = "", dryRun } }) => {
    const outcome = dryRun === true ? "can be accepted" : "are accepted";
    const rest = changes === undefined ? "none waits" : waitingText(changes.count);
    return `the changes of ${named} ${outcome}, ${rest}`;
  },
  notes: ({ changes }, { request: { slug: named = "", dryRun } }) =>
    changes === undefined || dryRun === true ? [] : acceptText(named, changes),
  examples: [
    "svc toolkits accept billing --digest 2adf5e2161bd",
    "svc toolkits accept billing list_invoices get_invoice --digest 2adf5e2161bd",
  ],
});

/** Number of characters of a digest that commands show, and that `svc toolkits accept` needs. */
const digestShown = 12;

/**
 * Shows the changes of a toolkit at the terminal and asks the user to accept them. Rejects with CommandError if the user does not, or if
 * there is no terminal, because the user may not have seen the changes.
 */
async function confirmChanges(slug: string, changes: ToolkitChanges, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const again = `svc toolkits changes ${slug} shows them with their digest`;
  if (terminal === undefined)
    throw new CommandError(`name the changes to accept with --digest: ${again}; nothing was accepted`, 2);
  for (const line of changeLines(changes)) context.note(line);
  const answer = await terminal.ask(`This changes ${slug} as listed. Accept it? (yes/no): `);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError("nothing was accepted");
}

function waitingText(count: number): string {
  return `${countText(count, "change")} still ${count === 1 ? "waits" : "wait"}`;
}

/** Maximum number of suspicious tools that the command to accept them names. */
const namedMax = 10;

/** Returns the command that accepts changes: with the suspicious tools, if only they wait, and with `--origin` for a new address. */
function acceptText(slug: string, { digest, added, gone, altered, originAfter }: ToolkitChanges): string {
  const isFlagged = ({ flagged }: { readonly flagged: boolean }) => flagged;
  const names = [
    ...added.filter(isFlagged).map(({ name }) => name),
    ...altered.filter(isFlagged).map(({ tool }) => tool),
  ];
  const flagged = [...new Set(names)].filter((name) => name !== "").map((name) => plainText(name));
  const count = added.length + gone.length + altered.length;
  const isOnlyFlagged = flagged.length > 0 && names.length === count;
  const origin = originAfter === "" ? "" : " --origin";
  const end = ` --digest ${digest.slice(0, digestShown)}${origin}`;
  const shown = flagged.slice(0, namedMax).join(" ");
  if (isOnlyFlagged) return `Accept them with: svc toolkits accept ${slug} ${shown}${end}`;
  const rest =
    flagged.length === 0 ? "" : `\nThat leaves out suspicious tools. To accept them too, name them: ${shown}`;
  return `Accept them with: svc toolkits accept ${slug}${end}${rest}`;
}

/** Returns the lines that show changes: one row for each tool or part, and the new address with what it replaces. */
function changeLines(changes: ToolkitChanges | undefined): readonly string[] {
  if (changes === undefined) return ["no changes"];
  const { added, gone, altered, alteredLeftOff, originBefore, originAfter } = changes;
  const marked = (isFlagged: boolean, others = "") => (isFlagged ? "suspicious" : others);
  const rows = [
    ...added.map((tool) => ["added", tool.name, tool.class, marked(tool.flagged), "", shortened(tool.description)]),
    ...gone.map((name) => ["gone", name, "", "breaking", "", ""]),
    ...altered.map(({ tool, field, before, after, breaking, flagged }) => [
      ...["altered", tool || "-", field, marked(flagged, breaking ? "breaking" : "")],
      ...differing(before, after),
    ]),
  ];
  return [
    ...(rows.length === 0 ? [] : tableLines(["CHANGE", "TOOL", "PART", "MARK", "BEFORE", "AFTER"], rows)),
    ...(alteredLeftOff === 0 ? [] : [`and ${countText(alteredLeftOff, "altered part")} more`]),
    ...(originAfter === ""
      ? []
      : [
          "calls and credentials go elsewhere (accept it with --origin):",
          `  from ${plainText(originBefore)}`,
          `  to   ${plainText(originAfter)}`,
        ]),
  ];
}

/** Returns two texts from shortly before the first character that differs, so that the shortened texts show the difference. */
function differing(before: string, after: string): readonly string[] {
  const [one, other] = [plainText(before), plainText(after)];
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const start = same < 30 || one === "" || other === "" ? 0 : same - 20;
  return [one, other].map((text) => shortened(start === 0 ? text : `...${text.slice(start)}`));
}

function shortened(text: string): string {
  const plain = plainText(text);
  return plain.length <= 40 ? plain : `${plain.slice(0, 37)}...`;
}
