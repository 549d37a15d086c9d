import { type FileHandle, open, rm } from "node:fs/promises";
import { AdminService } from "@svc/gen/admin";
import { findProject } from "../command/client.ts";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { countText, tableLines } from "../text/table.ts";

type ExportOptions = { readonly project: string; readonly entity: string; readonly file: string };

/** The command `svc export`, which writes all data of one entity of a project to a file, as lines of JSON. */
export const addExportCommand = command(
  AdminService.method.exportEntity,
  {
    says: "write all data of one entity of a project to a file, as lines of JSON; - is standard output",
    takes: { "<file>": "" },
    options: [
      ["--project <project>", "id or name of the project", { required: true }],
      ["--entity <entity>", "the project's own id of the entity", { required: true }],
    ],
    json: "the file and the rows by table as JSON",
    more: "\nThe file contains the data that `svc erase` would delete, unencrypted: only its owner can read it. Credentials and keys are\nleft out, as its first line says; its last line has the number of rows by table.",
    examples: [
      "svc export ada.jsonl --project billing --entity ada",
      "svc export - --project billing --entity ada | jq -c 'select(.table == \"events\") | .row'",
    ],
  },
  async ({ values: options, context, admin, asJson }: Run<ExportOptions>) => {
    const { file } = options;
    const client = admin();
    const { id: projectId } = await findProject(client, options.project);
    const signal = context.untilInterrupted();
    const read = () => client.admin.exportEntity({ projectId, entityId: options.entity }, { signal });
    if (file === "-") {
      const counts = await writeLines(read(), async (lines) => {
        for (const line of lines) context.print(line);
      });
      return context.note(`${countText(sumOf(counts), "row")}.`);
    }
    const counts = await toFile(file, (handle) =>
      writeLines(read(), async (lines) => void (await handle.appendFile(lines.map((line) => `${line}\n`).join("")))),
    );
    if (asJson) return context.print(JSON.stringify({ file, counts }));
    const rows = Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const texts = rows.map(([table, count]) => [table, String(count)]);
    for (const line of tableLines(["TABLE", "ROWS"], texts)) context.print(line);
    context.note(`${file}: ${countText(sumOf(counts), "row")}.`);
  },
);

type Counts = Readonly<Record<string, number>>;

/**
 * Writes the lines to the output as they arrive. Returns the number of rows by table. Rejects with CommandError if the last line of the
 * export is missing, because the export is then incomplete.
 */
async function writeLines(
  messages: AsyncIterable<{ lines: string[] }>,
  write: (lines: readonly string[]) => Promise<void>,
): Promise<Counts> {
  let last = "{}";
  for await (const { lines } of messages) {
    await write(lines);
    last = lines.at(-1) ?? last;
  }
  const { end }: { end?: { counts: Counts } } = JSON.parse(last);
  if (end === undefined) throw new CommandError("the export is incomplete: run it again");
  return end.counts;
}

/** Creates a file that only its owner can read, and writes it with `write`. Removes the file if writing fails. */
async function toFile<T>(file: string, write: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "EEXIST" ? "it already exists" : (error.code ?? error.message);
    throw new CommandError(`${file} cannot be written: ${why}`);
  });
  try {
    const written = await write(handle);
    await handle.sync();
    return written;
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

function sumOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
