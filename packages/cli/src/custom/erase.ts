import { constants } from "node:os";
import { systemClock } from "@svc/core";
import { AdminService, type Erasure, ErasureSchema } from "@svc/gen/admin";
import type { SvcAdminClient } from "@svc/sdk";
import { type AdminOptions, findProject } from "../command/client.ts";
import type { CommandContext } from "../command/context.ts";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import type { JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { countText, tableLines } from "../text/table.ts";

type EraseOptions = ErasureOptions &
  JsonOption & {
    readonly project?: string;
    readonly entity?: string;
    readonly follow?: string;
    readonly dryRun?: true;
  };

/** The command `svc erase`, which deletes all data of one entity of a project. */
export const addEraseCommand = command(
  AdminService.method.eraseEntity,
  {
    says: "delete all data of one entity of a project, as the administrator",
    options: [
      ["--project <project>", "id or name of the project"],
      ["--entity <entity>", "the project's own id of the entity"],
      ["--follow <id>", "follow an earlier erasure, ers_…, instead of starting one"],
      ["--dry-run", "count what would be deleted, with some ids, without deleting anything"],
      ["--yes", "do not ask for confirmation"],
      ["--no-wait", "print the id of the erasure and do not wait for its end"],
    ],
    takesMore: true,
    json: "the erasure as JSON",
    more: "\nThe erasure continues when the command or the service ends. Erased data can only be restored from an earlier backup.",
    also: [[AdminService.method.getErasure, "--follow"]],
    examples: [
      "svc erase --project billing --entity ada --dry-run",
      "svc erase --project billing --entity ada",
      "svc erase --project billing --entity ada --yes --json",
      "svc erase --follow ers_01h455vb4pex5vsknk084sn02q",
    ],
  },
  async ({ values: options, more: [bare], context, admin }: Run<EraseOptions>) => {
    if (bare !== undefined)
      throw new CommandError(`"${bare}" belongs to no option: give --project <project> --entity ${bare}`, 2);
    const { project, entity: entityId, follow, dryRun } = options;
    const client = admin();
    if (follow !== undefined) {
      const { erasure } = await client.admin.getErasure({ id: follow });
      return await followErasure(client, erasure, options, context);
    }
    if (project === undefined || entityId === undefined) {
      throw new CommandError("no entity is given: give --project and --entity, or --follow with an erasure", 2);
    }
    const { id, name } = await findProject(client, project);
    if (dryRun === true) {
      const { erasure } = await client.admin.eraseEntity({ projectId: id, entityId, dryRun });
      return printErasure(erasure, options, context);
    }
    await confirmErasure(`all data of entity "${entityId}" of project "${name}"`, options, context);
    const { erasure } = await client.admin.eraseEntity({ projectId: id, entityId });
    await followErasure(client, erasure, options, context);
  },
);

/** The options of a command that erases data. */
export type ErasureOptions = { yes?: true; wait: boolean };

const everyMs = 1_000;
const interruptedExitCode = 128 + constants.signals.SIGINT;

/** Asks the user to confirm that `what` is erased. Rejects with CommandError if the user declines or if there is no terminal. */
async function confirmErasure(what: string, { yes }: ErasureOptions, { terminal }: CommandContext): Promise<void> {
  if (yes === true) return;
  if (terminal === undefined)
    throw new CommandError(`this erases ${plainText(what)} permanently: add --yes to confirm`, 2);
  const answer = await terminal.ask(`This erases ${plainText(what)} permanently. Type yes to continue: `);
  if (answer.trim() !== "yes") throw new CommandError("nothing was erased");
}

/** Waits until an erasure ends and shows its progress. Then prints what the erasure deleted. */
async function followErasure(
  { admin }: SvcAdminClient,
  begun: Erasure | undefined,
  options: ErasureOptions & JsonOption,
  context: CommandContext,
): Promise<void> {
  const { wait } = options;
  const signal = context.untilInterrupted();
  let erasure = begun;
  for (let told = ""; wait && erasure !== undefined && erasure.state !== "done"; ) {
    const line = progressLine(erasure);
    if (line !== told) context.note(line);
    told = line;
    await systemClock.wait(everyMs, signal);
    if (signal.aborted) {
      const left = `stopped waiting; the erasure continues: \`svc erase --follow ${erasure.id}\``;
      throw new CommandError(left, interruptedExitCode);
    }
    ({ erasure } = await admin.getErasure({ id: erasure.id }));
  }
  printErasure(erasure, options, context);
}

/**
 * Prints what an erasure of data deleted, or what a dry run counted. Prints as a warning which data svc could not search for the entity
 * (customer or user).
 */
function printErasure(erasure: Erasure | undefined, { json }: JsonOption, context: CommandContext): void {
  if (erasure === undefined) return;
  if (json) {
    context.print(messageText(ErasureSchema, erasure));
    return;
  }
  const isDryRun = erasure.state === "dry_run";
  if (erasure.state !== "done" && !isDryRun) {
    context.print(erasure.id);
    context.note(`It continues. \`svc erase --follow ${erasure.id}\` shows the progress.`);
    return;
  }
  const rows = Object.entries(erasure.counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const ids = new Map(erasure.samples.map((sample) => [sample.table, plainText(sample.ids.join(", "))]));
  const lines = isDryRun
    ? tableLines(
        ["TABLE", "ROWS", "SUCH AS"],
        rows.map(([table, count]) => [table, String(count), ids.get(table) ?? ""]),
      )
    : tableLines(
        ["TABLE", "ROWS"],
        rows.map(([table, count]) => [table, String(count)]),
      );
  for (const line of lines) context.print(line);
  const count = countText(sumOf(erasure), "row");
  const so = erasure.partial ? `at least ${count}; counting stopped after 20 s` : count;
  context.note(
    isDryRun ? `Dry run: ${so} would be deleted; nothing was deleted.` : `${erasure.id} is done: ${count} deleted.`,
  );
  context.note("Not searched:");
  for (const { place, reason } of erasure.notSearched) context.note(`  ${place}: ${reason}`);
}

function progressLine(erasure: Erasure): string {
  const { state, pass, jobsLeft } = erasure;
  const deleted = `${erasure.id} ${state}, pass ${pass}: ${countText(sumOf(erasure), "row")} deleted`;
  return jobsLeft === 0 ? deleted : `${deleted}, ${countText(jobsLeft, "job")} must end first`;
}

function sumOf({ counts }: Erasure): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The command `svc projects delete`, which ends a project's keys and deletes all of its data. */
export const addProjectDelete = command(
  AdminService.method.deleteProject,
  {
    says: "end a project's keys and delete all of its data",
    takes: { "<project>": "id or name of the project" },
    options: [
      ["--yes", "do not ask for confirmation"],
      ["--no-wait", "print the id of the erasure and do not wait for its end"],
    ],
    json: "the erasure as JSON",
    examples: ["svc projects delete billing", "svc projects delete billing --yes --no-wait"],
  },
  async ({
    values: options,
    context,
    admin,
  }: Run<AdminOptions & JsonOption & ErasureOptions & { readonly project: string }>) => {
    const { project } = options;

    const client = admin();
    const { id, name } = await findProject(client, project);
    await confirmErasure(`project "${name}" with all its data`, options, context);
    const { erasure } = await client.admin.deleteProject({ projectId: id });
    await followErasure(client, erasure, options, context);
  },
);
